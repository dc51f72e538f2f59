# Fails where more scores are missing than `max_missing` accepts, or where most baseline replies of a model were cut before
# any text, and names the cells; else a small table.
#
# In:  trials.parquet, scores.parquet
# Out: tables/completeness.csv
# Reruns: when the trials, the limit, an output cap or the code of the check changes.


rule completeness:
    input:
        script="workflow/scripts/completeness.py",
        trials=TRIALS,
        scores=TRIAL_SCORES,
    output:
        COMPLETENESS,
    log:
        f"{RESULTS}/logs/completeness.log",
    localrule: True
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        max_missing=str(STUDY.config.max_missing),
        caps=STUDY.output_caps,
        code=script_digest("workflow/scripts/completeness.py"),
    shell:
        "python {input.script} --trials {input.trials:q} --scores {input.scores:q} --max-missing {params.max_missing}"
        " --caps {params.caps:q} --planned {params.planned:q} --out {output:q} 2> {log:q}"
