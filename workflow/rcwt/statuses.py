"""The closed sets of words that the result tables use: where a row is from, and how a call and a score ended."""

SOURCES = ("run", "published", "simulated")
STATUSES = ("ok", "truncated", "empty", "refused", "filtered")
#: Statuses that hold no answer to judge: their items are misses by rule, and counted apart.
NON_ANSWERS = ("empty", "refused", "filtered")
ORDERS = ("coord_first", "reason_first")
#: `scored`: a judge gave 0 or 1; `non_answer`: 0 by rule; the rest have no score.
SCORE_STATUSES = ("scored", "non_answer", "judge_unparsed", "judge_truncated", "not_scored")
