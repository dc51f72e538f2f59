"""Statistics of trials: cells with their intervals, curve fits and theta, refits, agreement of judges, displacement.
`selection` says which cells are shown where.

May import: `base`, `reader` for its name, `study` for the planned cells, `trials`. Not: anything that prints.
"""
