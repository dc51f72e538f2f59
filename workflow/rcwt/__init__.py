"""Roundtable Context Window Test: the logic of the pipeline as pure functions on typed records."""

__version__ = "0.1.0"
