"""What is measured: tasks, the design's conditions, their prompts, manifest and evidence ceiling, and the preflights
before them. `study.Study` is a run as the Snakefile sees it; all of it is computed while the Snakefile is read.

May import: `base`, `config`, `packs`, `scoring`. Not: anything that calls a model.
"""
