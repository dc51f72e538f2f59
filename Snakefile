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
PLANNED = f"{RESULTS}/{PLANNED_FILE}"  # the cells of the run; written when it starts
TRIALS, TRIAL_SCORES = f"{RESULTS}/trials.parquet", f"{RESULTS}/scores.parquet"
CELLS = f"{RESULTS}/tables/{{kind}}_cells.csv"
CURVES = f"{RESULTS}/tables/curve_fits.csv"
JUDGE_AGREEMENT = f"{RESULTS}/tables/judge_agreement.csv"
AUDIT_SAMPLE, AUDIT_KEY = f"{RESULTS}/audit/sample.csv", f"{RESULTS}/audit/key.csv"
AUDIT_SCORES = f"{RESULTS}/audit/scores.json"
TABLE_A1, TABLE_1, TABLE_2, TABLE_INTACT = (
    f"{RESULTS}/tables/{name}" for name in ("table_a1", "table_1", "table_2", "intact")
)
WINDOW_ACCOUNTS, DISPLACEMENT = f"{RESULTS}/tables/window_accounts.csv", f"{RESULTS}/tables/displacement.csv"
PACKS, PACK_ITEMS = f"{RESULTS}/packs/{{experiment}}.json", f"{RESULTS}/tables/pack_items.csv"
FIGURE_1, FIGURE_2, FIGURE_3 = (f"{RESULTS}/figures/figure_{number}" for number in (1, 2, 3))
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
        [] if STUDY.config.published else [MANIFEST, SPEND, AUDIT_SAMPLE, *expand(PACKS, experiment=STUDY.decks)],
        expand(CELLS, kind=STUDY.kinds),
        [COMPLETENESS, CURVES, DISPLACEMENT, PACK_ITEMS, SUMMARY],
        JUDGE_AGREEMENT if STUDY.several_judges else [],
        printed(TABLE_A1),
        printed(TABLE_2, "_full.csv"),
        printed(TABLE_INTACT, "_full.csv"),
        drawn(FIGURE_1),
        drawn(FIGURE_3),
        # Whether theta holds in all windows is asked of a fixed budget alone.
        [WINDOW_ACCOUNTS, *printed(TABLE_1, "_full.csv"), *drawn(FIGURE_2)] if "fixed_budget" in STUDY.kinds else [],
