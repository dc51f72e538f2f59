"""Calls that are cached, limited, paid for and kept: the one call runtime of a process, and what the processes of a run
share.

May import: `base`, `config`, `reader`, `study`, `wire`. Not: scores; what a reply is worth is not known here.
"""
