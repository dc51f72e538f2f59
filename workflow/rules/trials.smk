# All cells in two tables, held against the manifest.
#
# In:  manifest.csv, tokens/, calls/, scores/
# Out: trials.parquet (a row a trial), scores.parquet (a row an item and judge)
# Reruns: when any of them, the picked models or judges, or the code of the aggregation changes.


from rcwt.run import jobs


rule trials:
    input:
        manifest=MANIFEST,
        tokens=expand(TOKENS, task=STUDY.tasks),
        calls=expand(CALLS, condition=STUDY.conditions, model=STUDY.config.models),
        scores=[SCORES.format(condition=name, model=model, judge=judge) for name, model, judge in STUDY.scored],
    output:
        trials=TRIALS,
        scores=TRIAL_SCORES,
    log:
        f"{RESULTS}/logs/trials.log",
    localrule: True
    params:
        models=STUDY.config.models,
        judges=STUDY.config.judges,
        code=code_digest("trials.aggregation", "study.manifest"),
    run:
        jobs.gather_cells(log[0], STUDY, input.manifest, input.tokens, output.trials, output.scores)
