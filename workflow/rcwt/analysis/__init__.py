"""Statistics of trials: cells with their intervals, curve fits and theta, refits, agreement of judges, displacement.

May import: `base`, `study` for the planned cells, `trials`. Not: anything that prints.
"""
