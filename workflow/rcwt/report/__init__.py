"""What people read: the paper's tables, the figures and the summary, printed from exact counts.

May import: `base`, `reader` for its label, `packs`, `trials`, `analysis`. It computes nothing that another table would
need.
"""
