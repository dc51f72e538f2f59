"""Scoring replies: the rule judge, and the scores of a cell as they are kept."""
