# One file a cell and judge: 0 or 1 for every item of every trial, or nothing where there is no score.
#
# In:  calls/<model>/<condition>.jsonl; for the judge `human` also audit/scores.json
# Out: scores/<judge>/<model>/<condition>.json
# Reruns: when the calls, what the judge is asked of each item, the judge (for a model its endpoint, name and
#         parameters; for a person the scored file) or its code changes. Limits and prices rerun nothing.
from rcwt.scoring.cells import score_cell, write_scores


rule scores:
    input:
        calls=CALLS,
        audit=lambda wildcards: [AUDIT_SCORES] if wildcards.judge == "human" else [],
    output:
        SCORES,
    params:
        judge=lambda wildcards: STUDY.judge_digest(wildcards.condition, wildcards.judge),
    run:
        scores = score_cell(STUDY, wildcards.condition, wildcards.judge, Path(input.calls), input.audit)
        write_scores(scores, Path(output[0]))
