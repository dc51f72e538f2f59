# The paper-shaped tables, as printed values, as Markdown and as LaTeX.
#
# In:  tables/fixed_budget_cells.csv; for Table 1 also tables/curve_fits.csv
# Out: tables/table_a1.csv, .md, .tex; tables/table_1.csv, .md, .tex and table_1_full.csv
# Reruns: when the cells, the fits, what is shown (experiment, headline judge, models) or the code of the tables changes.

# Options of the scripts that show the main experiment. The paper's own data bring their models and judge with them:
# the scripts then take the paper's judge, and the models in the paper's order.
SHOWN = ""
if not STUDY.config.published:
    MAIN = [name for name in STUDY.config.experiments if STUDY.config.designs[name].kind == "fixed_budget"]
    SHOWN = " ".join(
        [
            *[f"--experiment {name}" for name in MAIN[:1]],
            f"--judge {STUDY.config.judges[0]}",
            f"--models {' '.join(STUDY.config.models)}",
        ]
    )
# Models that are the embedded reader, whatever their name: all that is shown of them says so.
EMBEDDED = [name for name in STUDY.config.models if STUDY.model(name).embedded]


rule table_a1:
    input:
        script="workflow/scripts/table_a1.py",
        cells=expand(CELLS, kind="fixed_budget"),
    output:
        multiext(TABLE_A1, ".csv", ".md", ".tex"),
    log:
        f"{RESULTS}/logs/table_a1.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        shown=SHOWN,
        embedded=EMBEDDED,
        out=lambda wildcards, output: output[0].removesuffix(".csv"),
        code=code_digest("tables"),
    shell:
        "python {input.script} --cells {input.cells} {params.shown} --embedded {params.embedded} --out {params.out}"
        " 2> {log}"


rule table_1:
    input:
        script="workflow/scripts/table_1.py",
        cells=expand(CELLS, kind="fixed_budget"),
        curves=CURVES,
    output:
        multiext(TABLE_1, ".csv", "_full.csv", ".md", ".tex"),
    log:
        f"{RESULTS}/logs/table_1.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        shown=SHOWN,
        embedded=EMBEDDED,
        out=lambda wildcards, output: output[0].removesuffix(".csv"),
        code=code_digest("scaling"),
    shell:
        "python {input.script} --cells {input.cells} --curves {input.curves} {params.shown}"
        " --embedded {params.embedded} --out {params.out} 2> {log}"
