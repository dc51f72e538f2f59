# The figures. Each one's colours and drawing stand in a module of its own, so that a new colour reruns that figure only.
#
# In:  tables/fixed_budget_cells.csv, tables/curve_fits.csv, the paper's printed values; tables/displacement.csv
# Out: figures/figure_1, figure_2 and figure_3, each as .pdf, .png and .svg
# Reruns: when these, what is shown, or the figure's own code or that which all figures share changes.


rule figure_1:
    input:
        script="workflow/scripts/figure_1.py",
        cells=expand(CELLS, kind="fixed_budget"),
        curves=CURVES,
        paper="resources/published/table_a1.csv",
    output:
        drawn(FIGURE_1),
    log:
        f"{RESULTS}/logs/figure_1.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        shown=SHOWN,
        embedded=EMBEDDED,
        out=lambda wildcards, output: output[0].removesuffix(".pdf"),
        code=script_digest("workflow/scripts/figure_1.py"),
    shell:
        "python {input.script} --cells {input.cells:q} --curves {input.curves:q} --paper {input.paper:q} {params.shown}"
        " --embedded {params.embedded} --planned {params.planned:q} --out {params.out:q} 2> {log:q}"


rule figure_2:
    input:
        script="workflow/scripts/figure_2.py",
        cells=expand(CELLS, kind="fixed_budget"),
    output:
        drawn(FIGURE_2),
    log:
        f"{RESULTS}/logs/figure_2.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        shown=SHOWN,
        embedded=EMBEDDED,
        out=lambda wildcards, output: output[0].removesuffix(".pdf"),
        code=script_digest("workflow/scripts/figure_2.py"),
    shell:
        "python {input.script} --cells {input.cells:q} {params.shown} --embedded {params.embedded}"
        " --planned {params.planned:q} --out {params.out:q} 2> {log:q}"


rule figure_3:
    input:
        script="workflow/scripts/figure_3.py",
        displacement=DISPLACEMENT,
    output:
        drawn(FIGURE_3),
    log:
        f"{RESULTS}/logs/figure_3.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        judge=[] if STUDY.config.published else STUDY.config.judges[:1],
        models=[] if STUDY.config.published else STUDY.config.models,
        embedded=EMBEDDED,
        out=lambda wildcards, output: output[0].removesuffix(".pdf"),
        code=script_digest("workflow/scripts/figure_3.py"),
    shell:
        "python {input.script} --displacement {input.displacement:q} --judge {params.judge} --models {params.models}"
        " --embedded {params.embedded} --out {params.out:q} 2> {log:q}"
