"""US dollars and tokens before and after: what jobs will ask for, and what was planned against what was paid.

May import: `base`, `config`, `scoring`, `study`, `calls`, `trials`. It never sends a request.
"""
