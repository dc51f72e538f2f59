# What calls cost: before (the plan, the last line of a dry run, the cap of a run) and after (plan against actual).
#
# In:  manifest.csv and the response cache; for the table also trials.parquet, the scores of language-model judges and
#      preflights.jsonl beside the cached responses
# Out: plan/spend.csv (asked for by name, not part of `all`), tables/spend.csv
# Reruns: the plan when it would say something else, be it that responses have arrived; the table when trials, scores,
#         prices, token factors or output caps change. Nothing here is sent anywhere.
import atexit

from rcwt.run import jobs
from rcwt.run import run_plan
from rcwt.spend.plan import plan_digest, table_terms
from rcwt.calls.responses import ResponseCache

atexit.register(run_plan.print_spend, workflow, STUDY)


rule spend_plan:
    input:
        manifest=MANIFEST,
    output:
        SPEND_PLAN,
    log:
        f"{RESULTS}/logs/spend_plan.log",
    localrule: True
    params:
        plan=lambda wildcards: plan_digest(STUDY, ResponseCache()),
    run:
        jobs.plan_spend(log[0], STUDY, input.manifest, output[0])


rule spend_table:
    input:
        manifest=MANIFEST,
        trials=TRIALS,
        scores=[
            SCORES.format(condition=name, model=model, judge=judge)
            for name, model, judge in STUDY.scored
            if judge in STUDY.config.model_judges
        ],
    output:
        SPEND,
    log:
        f"{RESULTS}/logs/spend_table.log",
    localrule: True
    params:
        terms=lambda wildcards: canonical_json(table_terms(STUDY)),
        code=code_digest("spend.actual"),
    run:
        jobs.tabulate_spend(log[0], STUDY, params.terms, input.manifest, input.trials, input.scores, output[0])
