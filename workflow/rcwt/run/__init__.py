"""Where the pipeline meets Snakemake: what each job does, the plan before the first one, signals, and the end of a run.

May import: `base`, `config`, `packs`, `scoring`, `study`, `calls`, `trials`, `spend`. Nothing imports it but the rules.
"""
