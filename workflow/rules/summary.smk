# What the run found, in a few lines; printed when it ends.
#
# In:  trials.parquet, tables/<kind>_cells.csv, tables/curve_fits.csv, tables/window_accounts.csv; of the main tables
#      and figures the place only
# Out: summary.txt
# Reruns: when the trials, cells or fits, or the code of the summary changes.

SHOWN_TABLES = [
    ("fixed_budget", TABLE_A1),
    ("fixed_budget", TABLE_1),
    ("packs", TABLE_2),
    ("intact", TABLE_INTACT),
]
SHOWN_FIGURES = [("fixed_budget", FIGURE_1), ("fixed_budget", FIGURE_2), ("intact", FIGURE_3)]


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
        embedded=EMBEDDED,
        table=[f"{table}.csv" for kind, table in SHOWN_TABLES if kind in STUDY.kinds],
        figure=[f"{figure}.png" for kind, figure in SHOWN_FIGURES if kind in STUDY.kinds],
        code=code_digest("summary"),
    shell:
        "python {input.script} --trials {input.trials} --cells {input.cells} --curves {input.curves}"
        " --accounts {input.accounts} --paper {input.paper} --embedded {params.embedded} --table {params.table}"
        " --figure {params.figure} --out {output} 2> {log}"
