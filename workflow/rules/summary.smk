# What the run found, in a few lines; printed when it ends.
#
# In:  trials.parquet, tables/<kind>_cells.csv, tables/curve_fits.csv, tables/window_accounts.csv; of the main tables
#      and figures the place only
# Out: summary.txt
# Reruns: when the trials, cells or fits, an output cap, or the code of the summary changes.

# By kind of design, so that nothing is named of which there are no calls.
NAMED_TABLES = [f"fixed_budget={TABLE_A1}.csv", f"fixed_budget={TABLE_1}.csv", f"packs={TABLE_2}.csv"]
NAMED_TABLES += [
    f"algorithmic={RESULTS}/tables/algorithmic_cells.csv",
    *[f"intact={TABLE_INTACT}.csv" for _ in INTACT[:1]],
]
NAMED_FIGURES = [f"fixed_budget={FIGURE_1}.png", f"fixed_budget={FIGURE_2}.png"]
NAMED_FIGURES += [f"intact={FIGURE_3}.png"] if INTACT_OPEN and "fixed_budget" in STUDY.kinds else []


rule summary:
    input:
        script="workflow/scripts/summary.py",
        trials=TRIALS,
        cells=expand(CELLS, kind=STUDY.kinds),
        curves=CURVES,
        accounts=WINDOW_ACCOUNTS if "fixed_budget" in STUDY.kinds else [],
        paper="resources/published/table_a1.csv",
    output:
        SUMMARY,
    log:
        f"{RESULTS}/logs/summary.log",
    localrule: True
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        embedded=EMBEDDED,
        table=NAMED_TABLES,
        figure=NAMED_FIGURES,
        caps=STUDY.output_caps,
        code=script_digest("workflow/scripts/summary.py"),
    shell:
        "python {input.script} --trials {input.trials:q} --cells {input.cells:q} --curves {input.curves:q}"
        " --accounts {input.accounts:q} --paper {input.paper:q} --embedded {params.embedded} --table {params.table:q}"
        " --figure {params.figure:q} --caps {params.caps:q} --planned {params.planned:q} --out {output:q} 2> {log:q}"
