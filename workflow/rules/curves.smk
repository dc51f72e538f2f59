# Curve families fitted to accuracy and to the evidence ceiling, and theta with its intervals; and how the cliff moves
# with the window, fitted to all windows at once.
#
# In:  tables/<kind>_cells.csv, trials.parquet, scores.parquet
# Out: tables/curve_fits.csv, tables/window_accounts.csv (only its header where one window is measured)
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
        planned=PLANNED,
        B=STUDY.config.bootstrap.B,
        seed=STUDY.config.bootstrap.seed,
        code=script_digest("workflow/scripts/curves.py"),
    shell:
        "python {input.script} --trials {input.trials:q} --scores {input.scores:q} --cells {input.cells:q}"
        " --B {params.B} --seed {params.seed} --planned {params.planned:q} --out {output:q} 2> {log:q}"


rule window_accounts:
    input:
        script="workflow/scripts/window_accounts.py",
        cells=expand(CELLS, kind="fixed_budget"),
    output:
        WINDOW_ACCOUNTS,
    log:
        f"{RESULTS}/logs/window_accounts.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        code=script_digest("workflow/scripts/window_accounts.py"),
    shell:
        "python {input.script} --cells {input.cells:q} --planned {params.planned:q} --out {output:q} 2> {log:q}"
