"""The paper's per-call data as the same two tables: its CSV kinds, read strictly, each refusal with file and line.

May import: `base`, `config`, `study` for the ceiling of its texts, `trials`.
"""
