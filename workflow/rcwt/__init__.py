"""Roundtable Context Window Test: the logic of the pipeline as pure functions on typed records.

Its packages and the way of a share through them: `docs/architecture.md`.
"""

__version__ = "0.1.0"
