# All cells in two tables, held against the manifest.
#
# In:  manifest.csv, tokens/, calls/, scores/
# Out: trials.parquet (a row a trial), scores.parquet (a row an item and judge)
# Reruns: when any of them, the picked models or judges, or the code of the aggregation changes.


rule trials:
    input:
        script="workflow/scripts/aggregate.py",
        manifest=MANIFEST,
        tokens=expand(TOKENS, task=STUDY.tasks),
        calls=expand(CALLS, condition=STUDY.conditions, model=STUDY.config.models),
        scores=[SCORES.format(condition=name, model=model, judge=judge) for name, model, judge in STUDY.scored],
    output:
        trials=TRIALS,
        scores=TRIAL_SCORES,
    log:
        f"{RESULTS}/logs/trials.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        results=lambda wildcards, output: os.path.dirname(output.trials),
        models=STUDY.config.models,
        judges=STUDY.config.judges,
        code=code_digest("aggregation"),
    shell:
        "python {input.script} --manifest {input.manifest} --tokens {input.tokens} --results {params.results}"
        " --models {params.models} --judges {params.judges} --trials {output.trials} --scores {output.scores}"
        " 2> {log}"
