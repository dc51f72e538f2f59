# The paper-shaped tables, as printed values, as Markdown and as LaTeX; and the two arms of the open task compared.
#
# In:  tables/fixed_budget_cells.csv, intact_cells.csv, packs_cells.csv, curve_fits.csv; trials.parquet, scores.parquet,
#      manifest.csv
# Out: tables/table_a1, table_1, table_2 and intact as .csv, .md and .tex; table_1_full.csv, table_2_full.csv,
#      intact_full.csv, displacement.csv, pack_items.csv
# Reruns: when these, what is shown (experiment, headline judge, models) or the code of the table changes; the
#         comparison also when the resamples or their seed change.

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

# Experiments whose task is intact: with an exact question (scored by rule) and with the open task's own instruction.
INTACT, INTACT_OPEN = ["intact"], []
if not STUDY.config.published:
    INTACT, INTACT_OPEN = (
        [
            name
            for name in STUDY.config.experiments
            if STUDY.config.designs[name].kind == "intact" and (STUDY.config.designs[name].question is None) is is_open
        ]
        for is_open in (False, True)
    )


rule table_a1:
    input:
        script="workflow/scripts/table_a1.py",
        cells=expand(CELLS, kind="fixed_budget"),
    output:
        printed(TABLE_A1),
    log:
        f"{RESULTS}/logs/table_a1.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        shown=SHOWN,
        embedded=EMBEDDED,
        out=lambda wildcards, output: output[0].removesuffix(".csv"),
        code=script_digest("workflow/scripts/table_a1.py"),
    shell:
        "python {input.script} --cells {input.cells:q} {params.shown} --embedded {params.embedded}"
        " --planned {params.planned:q} --out {params.out:q} 2> {log:q}"


rule table_1:
    input:
        script="workflow/scripts/table_1.py",
        cells=expand(CELLS, kind="fixed_budget"),
        curves=CURVES,
    output:
        printed(TABLE_1, "_full.csv"),
    log:
        f"{RESULTS}/logs/table_1.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        shown=SHOWN,
        embedded=EMBEDDED,
        out=lambda wildcards, output: output[0].removesuffix(".csv"),
        code=script_digest("workflow/scripts/table_1.py"),
    shell:
        "python {input.script} --cells {input.cells:q} --curves {input.curves:q} {params.shown}"
        " --embedded {params.embedded} --planned {params.planned:q} --out {params.out:q} 2> {log:q}"


rule intact_table:
    input:
        script="workflow/scripts/intact.py",
        cells=expand(CELLS, kind="intact"),
        trials=TRIALS,
        manifest=[] if STUDY.config.published else MANIFEST,
    output:
        printed(TABLE_INTACT, "_full.csv"),
    log:
        f"{RESULTS}/logs/intact_table.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        experiment=INTACT[:1],
        models=[] if STUDY.config.published else STUDY.config.models,
        embedded=EMBEDDED,
        out=lambda wildcards, output: output[0].removesuffix(".csv"),
        code=script_digest("workflow/scripts/intact.py"),
    shell:
        "python {input.script} --cells {input.cells:q} --trials {input.trials:q} --manifest {input.manifest:q}"
        " --experiment {params.experiment} --models {params.models} --embedded {params.embedded}"
        " --planned {params.planned:q} --out {params.out:q} 2> {log:q}"


rule displacement:
    input:
        script="workflow/scripts/displacement.py",
        trials=TRIALS,
        scores=TRIAL_SCORES,
    output:
        DISPLACEMENT,
    log:
        f"{RESULTS}/logs/displacement.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        fixed=["fixed_budget"] if STUDY.config.published else MAIN[:1],
        intact=INTACT_OPEN[:1],
        B=STUDY.config.bootstrap.B,
        seed=STUDY.config.bootstrap.seed,
        code=script_digest("workflow/scripts/displacement.py"),
    shell:
        "python {input.script} --trials {input.trials:q} --scores {input.scores:q} --fixed {params.fixed}"
        " --intact {params.intact} --B {params.B} --seed {params.seed}"
        " --planned {params.planned:q} --out {output:q} 2> {log:q}"


rule table_2:
    input:
        script="workflow/scripts/table_2.py",
        main=expand(CELLS, kind="fixed_budget"),
        packs=expand(CELLS, kind="packs"),
        curves=CURVES,
        trials=TRIALS,
    output:
        printed(TABLE_2, "_full.csv"),
    log:
        f"{RESULTS}/logs/table_2.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        shown=SHOWN,
        embedded=EMBEDDED,
        out=lambda wildcards, output: output[0].removesuffix(".csv"),
        code=script_digest("workflow/scripts/table_2.py"),
    shell:
        "python {input.script} --main {input.main:q} --packs {input.packs:q} --curves {input.curves:q}"
        " --trials {input.trials:q} {params.shown} --embedded {params.embedded}"
        " --planned {params.planned:q} --out {params.out:q} 2> {log:q}"


rule pack_items:
    input:
        script="workflow/scripts/pack_items.py",
        manifest=[] if STUDY.config.published else MANIFEST,
        scores=TRIAL_SCORES,
    output:
        PACK_ITEMS,
    log:
        f"{RESULTS}/logs/pack_items.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        code=script_digest("workflow/scripts/pack_items.py"),
    shell:
        "python {input.script} --manifest {input.manifest:q} --scores {input.scores:q}"
        " --planned {params.planned:q} --out {output:q} 2> {log:q}"
