"""The two tables that all analysis reads, one row a trial and one row an item and judge, and how a run's files become
them.

May import: `base`, `config`, `scoring`. Not: calls; a trial's file says all that is needed.
"""
