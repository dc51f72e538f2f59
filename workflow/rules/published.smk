# The paper's own per-call CSVs as the two tables of a run; everything below is the same.
#
# In:  the CSV files under `artifact`
# Out: trials.parquet, scores.parquet, published_files.csv (what was read, skipped and why), planned.json
# Reruns: when a file, the importer or the task (its evidence gives the ceiling) changes.


rule published:
    input:
        script="workflow/scripts/published.py",
        files=STUDY.artifact_files,
        task=STUDY.sources("spec_recall"),
    output:
        trials=TRIALS,
        scores=TRIAL_SCORES,
        files=f"{RESULTS}/published_files.csv",
        planned=PLANNED,
    log:
        f"{RESULTS}/logs/published.log",
    conda:
        "../envs/rcwt.yaml"
    params:
        artifact=STUDY.config.artifact,
        task="resources/templates/spec_recall",
        content=STUDY.task_digest("spec_recall"),
        targets=STUDY.rescore_targets,
        code=script_digest("workflow/scripts/published.py"),
    shell:
        "python {input.script} --artifact {params.artifact:q} --task {params.task:q} --rescore-targets {params.targets:q}"
        " --trials {output.trials:q} --scores {output.scores:q} --files {output.files:q}"
        " --planned {output.planned:q} 2> {log:q}"
