# One file a cell: the records of its trials. Responses come from the cache under .cache/responses, or from the model.
#
# In:  prompts/<condition>.json
# Out: calls/<model>/<condition>.jsonl
# Reruns: when the prompt, the number of trials, or what identifies the call (endpoint, model, parameters; for the
#         embedded reader its code; for others the code that reads their answers) changes. Kept responses are read
#         again, and asked again only with `ask_again`. Limits and prices rerun nothing.
from rcwt.run import jobs
from rcwt.spend.asked_again import asked_again
from rcwt.spend.plan import Planner
from rcwt.calls.responses import ResponseCache

KEPT = Planner(STUDY, ResponseCache())  # what is asked again on request, as the responses are at the start


rule calls:
    input:
        prompt=PROMPT,
    output:
        CALLS,
    log:
        f"{RESULTS}/logs/calls/{{model}}/{{condition}}.log",
    group:
        "calls" if IN_JOBS else None
    localrule: not IN_JOBS
    resources:
        cells=1,
    params:
        trials=lambda wildcards: STUDY.conditions[wildcards.condition].trials,
        identity=lambda wildcards: STUDY.calls_digest(wildcards.condition, wildcards.model),
        again=lambda wildcards: asked_again(KEPT, wildcards.condition, wildcards.model),
    run:
        jobs.make_calls(log[0], STUDY, wildcards.condition, wildcards.model, input.prompt, output[0])
