"""Benchmark packs (GSM8K, MMLU-Pro, DROP): their data, the draw of questions, their layout and their answers.

May import: `base` and `config`. Not: prompts or calls; what a pack has become in a prompt is the study's.
"""
