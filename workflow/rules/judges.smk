# How far the judges of the same responses agree.
#
# In:  trials.parquet, scores.parquet
# Out: tables/judge_agreement.csv (part of `all` where there are several judges)
# Reruns: when the scores, the order of the judges, the resamples or their seed, or the code of the comparison changes.


rule judge_agreement:
    input:
        script="workflow/scripts/judge_agreement.py",
        trials=TRIALS,
        scores=TRIAL_SCORES,
    output:
        JUDGE_AGREEMENT,
    log:
        f"{RESULTS}/logs/judge_agreement.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        # The paper's own data bring their judges with them.
        judges=[] if STUDY.config.published else STUDY.config.judges,
        B=STUDY.config.bootstrap.B,
        seed=STUDY.config.bootstrap.seed,
        code=script_digest("workflow/scripts/judge_agreement.py"),
    shell:
        "python {input.script} --trials {input.trials:q} --scores {input.scores:q} --judges {params.judges}"
        " --B {params.B} --seed {params.seed} --planned {params.planned:q} --out {output:q} 2> {log:q}"
