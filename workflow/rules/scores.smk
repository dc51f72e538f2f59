# One file a cell and judge: 0 or 1 for every item of every trial, or nothing where there is no score.
#
# In:  calls/<model>/<condition>.jsonl
# Out: scores/<judge>/<model>/<condition>.json
# Reruns: when the calls, the items' patterns or the scoring code changes.
from rcwt.scoring.cells import score_cell, write_scores


rule scores:
    input:
        calls=CALLS,
    output:
        SCORES,
    params:
        judge=lambda wildcards: STUDY.judge_digest(wildcards.condition, wildcards.judge),
    run:
        items = STUDY.tasks[STUDY.conditions[wildcards.condition].task].items
        write_scores(
            score_cell(Path(input.calls), wildcards.judge, params.judge, items), Path(output[0])
        )
