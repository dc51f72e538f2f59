"""Benchmark packs: questions of GSM8K, MMLU-Pro and DROP, several in one call (paper, Table 2)."""
