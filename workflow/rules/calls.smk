# One file a cell: the records of its trials. Responses come from the cache under .cache/responses, or from the model.
#
# In:  prompts/<condition>.json
# Out: calls/<model>/<condition>.jsonl
# Reruns: when the prompt, the number of trials, or what identifies the call (endpoint, model, parameters; for the
#         embedded reader its code) changes. Limits and prices rerun nothing.
from rcwt.calls import answer_cell


rule calls:
    input:
        prompt=PROMPT,
    output:
        CALLS,
    params:
        trials=lambda wildcards: STUDY.conditions[wildcards.condition].trials,
        identity=lambda wildcards: STUDY.calls_digest(wildcards.condition, wildcards.model),
    run:
        answer_cell(
            STUDY, wildcards.condition, wildcards.model, Path(input.prompt), Path(output[0])
        )
