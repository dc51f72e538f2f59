# One file a cell and judge: 0 or 1 for every item of every trial, or nothing where there is no score.
#
# In:  calls/<model>/<condition>.jsonl
# Out: scores/<judge>/<model>/<condition>.json
# Reruns: when the calls, the items' patterns or the scoring code changes.
from rcwt import jobs


rule scores:
    input:
        calls=CALLS,
    output:
        SCORES,
    log:
        f"{RESULTS}/logs/scores/{{judge}}/{{model}}/{{condition}}.log",
    params:
        judge=lambda wildcards: STUDY.judge_digest(wildcards.condition, wildcards.judge),
    run:
        jobs.score(log[0], STUDY, wildcards.condition, wildcards.judge, input.calls, output[0])
