"""The closed sets of words that the result tables use: the prompt orders, and how a call ended."""

STATUSES = ("ok", "truncated", "empty", "refused", "filtered", "prompt_cut")
#: Statuses that hold no answer to judge: their items are misses by rule, and counted apart.
NON_ANSWERS = ("empty", "refused", "filtered")
#: The server cut the prompt: whatever came back answers another question, and all scores are missing.
PROMPT_CUT = "prompt_cut"
ORDERS = ("coord_first", "reason_first")
