# Roundtable Context Window Test (RCWT): how much of a fixed context window can coordination content take before the
# task breaks?
#
#   templates ─▶ prompts ─▶ calls ─▶ scores ─▶ trials ─▶ intervals ─▶ curves ─▶ tables, figures, summary
#                   └─▶ tokens, manifest (what each prompt states) ────┘
#
# condition = experiment × window × share × order; cell = condition × model; trial = one call of a cell.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/models.yaml"
configfile: "config/prices.yaml"
configfile: "config/config.yaml"


# Checks the configuration and computes every condition and prompt: STUDY, RESULTS and the target functions.
include: "workflow/rules/common.smk"


# Where things are. {condition} names experiment, window, share and order; {kind} is a kind of design.
TOKENS = f"{RESULTS}/tokens/{{task}}.json"
MANIFEST = f"{RESULTS}/manifest.csv"
PROMPT = f"{RESULTS}/prompts/{{condition}}.json"
CALLS = f"{RESULTS}/calls/{{model}}/{{condition}}.jsonl"
SCORES = f"{RESULTS}/scores/{{judge}}/{{model}}/{{condition}}.json"
TRIALS, TRIAL_SCORES = f"{RESULTS}/trials.parquet", f"{RESULTS}/scores.parquet"
CELLS = f"{RESULTS}/tables/{{kind}}_cells.csv"
CURVES = f"{RESULTS}/tables/curve_fits.csv"
JUDGE_AGREEMENT = f"{RESULTS}/tables/judge_agreement.csv"
AUDIT_SAMPLE, AUDIT_KEY = f"{RESULTS}/audit/sample.csv", f"{RESULTS}/audit/key.csv"
AUDIT_SCORES = f"{RESULTS}/audit/scores.json"
WINDOW_ACCOUNTS = f"{RESULTS}/tables/window_accounts.csv"
TABLE_A1, TABLE_1 = f"{RESULTS}/tables/table_a1", f"{RESULTS}/tables/table_1"
INTACT_TABLE, DISPLACEMENT = f"{RESULTS}/tables/intact", f"{RESULTS}/tables/displacement.csv"
FIGURE_1, FIGURE_2, FIGURE_3 = (f"{RESULTS}/figures/figure_{number}" for number in (1, 2, 3))
SCALING = [
    WINDOW_ACCOUNTS,
    *multiext(TABLE_1, ".csv", "_full.csv", ".md", ".tex"),
    *multiext(FIGURE_2, ".pdf", ".png", ".svg"),
]
SPEND_PLAN, SPEND = f"{RESULTS}/plan/spend.csv", f"{RESULTS}/tables/spend.csv"
COMPLETENESS = f"{RESULTS}/tables/completeness.csv"
SUMMARY = f"{RESULTS}/summary.txt"

if STUDY.config.published:

    include: "workflow/rules/published.smk"

else:

    include: "workflow/rules/prompts.smk"
    include: "workflow/rules/plan.smk"
    include: "workflow/rules/calls.smk"
    include: "workflow/rules/scores.smk"
    include: "workflow/rules/trials.smk"
    include: "workflow/rules/audit.smk"


include: "workflow/rules/statistics.smk"
include: "workflow/rules/completeness.smk"
include: "workflow/rules/curves.smk"
include: "workflow/rules/judges.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/summary.smk"


rule all:
    default_target: True
    input:
        [] if STUDY.config.published else [MANIFEST, SPEND, AUDIT_SAMPLE],
        expand(CELLS, kind=STUDY.kinds),
        COMPLETENESS,
        CURVES,
        JUDGE_AGREEMENT,
        multiext(TABLE_A1, ".csv", ".md", ".tex"),
        multiext(INTACT_TABLE, ".csv", ".md", ".tex", "_full.csv"),
        DISPLACEMENT,
        multiext(FIGURE_1, ".pdf", ".png", ".svg"),
        SCALING if "fixed_budget" in STUDY.kinds else [],
        multiext(FIGURE_3, ".pdf", ".png", ".svg"),
        SUMMARY,
