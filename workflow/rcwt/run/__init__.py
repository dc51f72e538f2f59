"""Where the pipeline meets Snakemake: what each job does, the plan before the first one, signals, and the end of a run.

May import: everything; nothing imports it but the rules.
"""
