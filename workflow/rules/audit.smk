# A blind sample of replies for a person to score, and the scored copy on its way back as the judge `human`.
#
# In:  manifest.csv, calls/; for the check also the file that the configuration's `audit` names
# Out: audit/sample.csv (to be scored), audit/key.csv (which trial each sample is), audit/scores.json (checked scores)
# Reruns: when the calls, the statements, the size or seed of the sample, the scored file or the code changes.


rule audit_sample:
    input:
        script="workflow/scripts/audit.py",
        manifest=MANIFEST,
        calls=expand(CALLS, condition=STUDY.judged_conditions, model=STUDY.config.models),
    output:
        sample=AUDIT_SAMPLE,
        key=AUDIT_KEY,
    log:
        f"{RESULTS}/logs/audit_sample.log",
    localrule: True
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        results=lambda wildcards, input: os.path.dirname(input.manifest),
        models=STUDY.config.models,
        tasks=STUDY.task_folders,
        statements=STUDY.statements_digest,
        per_cell=STUDY.config.audit_per_cell,
        seed=STUDY.config.bootstrap.seed,
        code=script_digest("workflow/scripts/audit.py"),
    shell:
        "python {input.script} draw --manifest {input.manifest:q} --results {params.results:q} --models {params.models}"
        " --tasks {params.tasks:q} --planned {params.planned:q} --per-cell {params.per_cell} --seed {params.seed}"
        " --sample {output.sample:q} --key {output.key:q} 2> {log:q}"


rule audit_scores:
    input:
        script="workflow/scripts/audit.py",
        manifest=MANIFEST,
        calls=expand(CALLS, condition=STUDY.judged_conditions, model=STUDY.config.models),
        scored=STUDY.config.audit or [],
    output:
        AUDIT_SCORES,
    log:
        f"{RESULTS}/logs/audit_scores.log",
    localrule: True
    conda:
        "../envs/rcwt.yaml"
    params:
        planned=PLANNED,
        results=lambda wildcards, input: os.path.dirname(input.manifest),
        models=STUDY.config.models,
        tasks=STUDY.task_folders,
        statements=STUDY.statements_digest,
        code=script_digest("workflow/scripts/audit.py"),
    shell:
        "python {input.script} check --manifest {input.manifest:q} --results {params.results:q} --models {params.models}"
        " --tasks {params.tasks:q} --scored {input.scored:q} --planned {params.planned:q} --out {output:q} 2> {log:q}"
