# Templates to prompts, token counts and the manifest.
#
# In:  resources/templates/<task>/
# Out: prompts/<condition>.json, tokens/<task>.json, manifest.csv
# Reruns: a prompt when its own messages or budgets change, however that came about; the sources are `ancient`
#         because Snakemake would otherwise run every cell below an edited template.
from rcwt import manifest, prompts
from rcwt.digests import write_json
from rcwt.tasks import load_task


rule tokenize_templates:
    input:
        lambda wildcards: STUDY.sources(wildcards.task),
    output:
        TOKENS,
    params:
        code=code_digest("manifest"),
    run:
        write_json(manifest.task_tokens(STUDY.tasks[wildcards.task]), Path(output[0]))


rule condition_manifest:
    input:
        tokens=expand(TOKENS, task=STUDY.tasks),
        prompts=expand(PROMPT, condition=STUDY.conditions),
    output:
        MANIFEST,
    params:
        trials=STUDY.trials(),
        code=code_digest("manifest"),
    run:
        manifest.build(
            [Path(path) for path in input.prompts],
            [Path(path) for path in input.tokens],
            params.trials,
            Path(output[0]),
        )


rule prompt:
    input:
        lambda wildcards: ancient(STUDY.sources(STUDY.conditions[wildcards.condition].task)),
    output:
        PROMPT,
    params:
        content=lambda wildcards: STUDY.prompt_digest(wildcards.condition),
    run:
        write_json(prompts.record(STUDY.prompts[wildcards.condition]), Path(output[0]))
