# One file a cell and judge: 0 or 1 for every item of every trial, or nothing where there is no score.
#
# In:  calls/<model>/<condition>.jsonl; for the judge `human` also audit/scores.json
# Out: scores/<judge>/<model>/<condition>.json
# Reruns: when the calls, what the judge is asked of each item, the judge (for a model its endpoint, name and
#         parameters; for a person the scored file) or its code changes. Limits and prices rerun nothing.
from rcwt.run import jobs
from rcwt.spend.asked_again import asked_again


rule scores:
    input:
        calls=CALLS,
        audit=lambda wildcards: [AUDIT_SCORES] if wildcards.judge == "human" else [],
    output:
        SCORES,
    log:
        f"{RESULTS}/logs/scores/{{judge}}/{{model}}/{{condition}}.log",
    group:
        "scores" if IN_JOBS else None
    localrule: not IN_JOBS
    resources:
        cells=1,
    params:
        judge=lambda wildcards: STUDY.judge_digest(wildcards.condition, wildcards.judge),
        again=lambda wildcards: asked_again(KEPT, wildcards.condition, wildcards.model, wildcards.judge),
    run:
        jobs.score(log[0], STUDY, wildcards.condition, wildcards.judge, input.calls, input.audit, output[0])
