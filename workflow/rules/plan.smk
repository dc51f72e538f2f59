# What calls cost: before (the plan, the last line of a dry run, the cap of a run) and after (plan against actual).
#
# In:  manifest.csv and the response cache; for the table also trials.parquet, the scores of language-model judges and
#      preflights.jsonl beside the cached responses
# Out: plan/spend.csv (asked for by name, not part of `all`), tables/spend.csv
# Reruns: the plan when it would say something else, be it that responses have arrived; the table when trials, scores,
#         prices, token factors or output caps change. Nothing here is sent anywhere.
import atexit

from rcwt import run_plan, spend
from rcwt.judge_plan import model_judges
from rcwt.plan import plan_digest, table_terms, write_plan
from rcwt.responses import ResponseCache

atexit.register(run_plan.print_spend, workflow, STUDY)


rule spend_plan:
    input:
        manifest=MANIFEST,
    output:
        SPEND_PLAN,
    params:
        plan=lambda wildcards: plan_digest(STUDY, ResponseCache()),
    run:
        write_plan(STUDY, ResponseCache(), Path(input.manifest), Path(output[0]))


rule spend_table:
    input:
        manifest=MANIFEST,
        trials=TRIALS,
        scores=expand(
            SCORES,
            condition=STUDY.conditions,
            model=STUDY.config.models,
            judge=model_judges(STUDY.config),
        ),
    output:
        SPEND,
    params:
        terms=lambda wildcards: canonical_json(table_terms(STUDY)),
        code=code_digest("spend"),
    run:
        spend.make_table(params.terms, input.manifest, input.trials, input.scores, ResponseCache(), output[0])
