"""The closed sets of words that the result tables use: the prompt orders, and how a call ended."""

STATUSES = ("ok", "truncated", "empty", "refused", "filtered", "unknown_finish")
#: Statuses that hold no answer to judge: their items are misses by rule, and counted apart.
NON_ANSWERS = ("empty", "refused", "filtered")
ORDERS = ("coord_first", "reason_first")
