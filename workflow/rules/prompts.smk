# Templates to prompts, token counts and the manifest.
#
# In:  resources/templates/<task>/, and for benchmark packs what their `source` names
# Out: prompts/<condition>.json, tokens/<task>.json, manifest.csv, packs/<experiment>.json
# Reruns: a prompt when its own messages or budgets change, however that came about; the sources are `ancient`
#         because Snakemake would otherwise run every cell below an edited template.
from rcwt.run import jobs


rule tokenize_templates:
    input:
        lambda wildcards: STUDY.sources(wildcards.task),
    output:
        TOKENS,
    log:
        f"{RESULTS}/logs/tokens/{{task}}.log",
    localrule: True
    params:
        content=lambda wildcards: STUDY.task_digest(wildcards.task),
        code=code_digest("study.manifest"),
    run:
        jobs.tokenize(log[0], STUDY, wildcards.task, output[0])


rule condition_manifest:
    input:
        tokens=expand(TOKENS, task=STUDY.tasks),
        prompts=expand(PROMPT, condition=STUDY.conditions),
    output:
        MANIFEST,
    log:
        f"{RESULTS}/logs/manifest.log",
    localrule: True
    params:
        trials=STUDY.trials(),
        code=code_digest("study.manifest"),
    run:
        jobs.describe(log[0], STUDY, input.prompts, input.tokens, output[0])


rule prompt:
    input:
        lambda wildcards: ancient(STUDY.sources(STUDY.conditions[wildcards.condition].task)),
    output:
        PROMPT,
    log:
        f"{RESULTS}/logs/prompts/{{condition}}.log",
    localrule: True
    params:
        content=lambda wildcards: STUDY.prompt_digest(wildcards.condition),
    run:
        jobs.write_prompt(log[0], STUDY, wildcards.condition, output[0])


rule packs:
    output:
        PACKS,
    log:
        f"{RESULTS}/logs/packs/{{experiment}}.log",
    localrule: True
    params:
        drawn=lambda wildcards: STUDY.deck_digest(wildcards.experiment),
    run:
        jobs.write_packs(log[0], STUDY, wildcards.experiment, output[0])
