"""What people read: the paper's tables, the figures and the summary, printed from exact counts.

`selection` says which cells are shown where. May import: `base`, `config`, `reader` for its label, `packs`, `study`,
`trials`, `analysis`. It computes nothing that another table would need.
"""
