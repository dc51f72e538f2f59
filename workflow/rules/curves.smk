# Curve families fitted to accuracy and to the evidence ceiling, and theta with its intervals.
#
# In:  tables/<kind>_cells.csv, trials.parquet, scores.parquet
# Out: tables/curve_fits.csv
# Reruns: when the cells, the resamples or their seed, or the code of the fits changes.


rule curves:
    input:
        script="workflow/scripts/curves.py",
        trials=TRIALS,
        scores=TRIAL_SCORES,
        # The window of an intact task is no budget: each share has its own, and nothing is displaced.
        cells=expand(CELLS, kind=[kind for kind in STUDY.kinds if kind != "intact"]),
    output:
        CURVES,
    log:
        f"{RESULTS}/logs/curves.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        B=STUDY.config.bootstrap.B,
        seed=STUDY.config.bootstrap.seed,
        code=code_digest("refits"),
    shell:
        "python {input.script} --trials {input.trials} --scores {input.scores} --cells {input.cells}"
        " --B {params.B} --seed {params.seed} --out {output} 2> {log}"
