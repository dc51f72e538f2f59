# Accuracy of every cell, each order and both pooled, with bootstrap intervals over calls.
#
# In:  trials.parquet, scores.parquet
# Out: tables/<kind>_cells.csv
# Reruns: when the trials, the resamples or their seed, or the code of the statistics changes.


rule intervals:
    input:
        script="workflow/scripts/intervals.py",
        trials=TRIALS,
        scores=TRIAL_SCORES,
    output:
        CELLS,
    log:
        f"{RESULTS}/logs/intervals_{{kind}}.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        B=STUDY.config.bootstrap.B,
        seed=STUDY.config.bootstrap.seed,
        code=script_digest("workflow/scripts/intervals.py"),
    shell:
        "python {input.script} --trials {input.trials:q} --scores {input.scores:q} --kind {wildcards.kind}"
        " --B {params.B} --seed {params.seed} --planned {params.planned:q} --out {output:q} 2> {log:q}"
