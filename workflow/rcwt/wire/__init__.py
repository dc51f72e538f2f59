"""One exchange with a model's server: what leaves, what came back, and what a body or a fault means.

May import: `base` and `config`. Not: cache, ledger or limits; whether to ask, and again, is for `calls`.
"""
