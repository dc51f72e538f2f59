"""US dollars and tokens before and after: what jobs will ask for, and what was planned against what was paid.

May import: all below; it never sends a request.
"""
