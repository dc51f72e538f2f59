"""An answer in any wrapping is the bare answer; a hedge, a choice or what is taken back is none.

Each case says what a careful person would read. The frames are tried with any number, letter and span.
"""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.base.number_words import value_of
from rcwt.packs.answers import answer_lines
from rcwt.packs.corrections import corrects, hedged, resolved
from rcwt.packs.grading import Grade, grade
from rcwt.packs.items import LETTERS, Question, Reference
from rcwt.packs.letters import letter
from rcwt.packs.numerals import number
from rcwt.packs.surface import spoken, surface

OPTIONS = ("gravity", "a magnet", "friction", "inertia", "a pulley", "heat", "sound", "light", "an atom", "a wave")
#: Around a whole value of any kind.
WRAPPERS = (
    *("{}", " {} ", "{}.", "{},", "{}。", "{}!", "**{}**", "*{}*", "`{}`", '"{}"', "“{}”", "[{}]", "({})", "{{{}}}"),
    *("【{}】", "（{}）", "「{}」", "<b>{}</b>", "<strong>{}</strong>", "{}</s>", "{}<|im_end|>", "{}<|eot_id|>"),
    *("{}<end_of_turn>", "\u200b{}\ufeff", "\u200e{}\u200f", "\\text{{{}}}", "\\textbf{{{}}}", "\\boxed{{{}}}"),
    *("$\\boxed{{\\text{{{}}}}}$", "\\[{}\\]", "\\({}\\)", "$${}$$", "#### {}", "\n{}", "\n\n**{}**", "\n- {}"),
    *("\n```\n{}\n```", "\n$$\n{}\n$$", "the answer is {}", "Answer: {}", "{} ✅", "{}<br>"),
)
#: Whole replies in which a value stands for the first question.
REPLIES = (
    *("ANSWER 1: {}", "**ANSWER 1:** {}", "**ANSWER 1: {}**", "- ANSWER 1: {}", "1. ANSWER 1: {}", "> ANSWER 1: {}"),
    *("ANSWER 1：{}", "answer 1 : {}", "[ANSWER 1]: {}", "[ANSWER 1: {}]", "`ANSWER 1: {}`", "### ANSWER 1\n{}"),
    *("| ANSWER 1 | {} |", "| **ANSWER 1** | **{}** | why |", "| ANSWER 1 | ANSWER 2 |\n|---|---|\n| {} | Z |"),
    *("ANSWER 1: {} ANSWER 2: Z", "ANSWER 1: {}, ANSWER 2: Z", '{{"ANSWER 1": "{}", "ANSWER 2": "Z"}}'),
    *("<think>ANSWER 1: Q</think>\nANSWER 1: {}", "ANSWER 1: Q</think>ANSWER 1: {}", "\ufeffANSWER 1: {}"),
    *("\\boxed{{ANSWER 1: {}}}", "$\\text{{ANSWER 1: {}}}$", "AN\u200bSWER 1: {}", "ANSWER 1 = {}", "ANSWER 1 is {}"),
    *("ANSWER 1: Q\nCorrection:\nANSWER 1: {}", "ANSWER 1: Q\nANSWER 2: Z\n\nFinal answers:\nANSWER 1: {}"),
    *("ANSWER 1: Q\nWait, that is wrong.\nANSWER 1: {}", "ANSWER 1: Q\nCorrected ANSWER 1: {}"),
    *("ANSWER 1: Q\nANSWER 1 (revised): {}", "~~ANSWER 1: Q~~\nANSWER 1: {}", "ANSWER 1: {}\nANSWER 1: {}"),
)
#: Around a value that is taken back for another.
TAKEN_BACK = (
    *("{other}, no wait, {}", "{other}... no wait, {}", "{other}, sorry, {}", "{other} — actually, {}"),
    *("~~{other}~~ {}", "<del>{other}</del> {}", "not {other} but {}", "{other} is wrong, so {}", "{}, not {other}"),
    *("{} (not {other})", "{} rather than {other}", "{other}; scratch that, {}", "{other}. Correction: {}"),
)
#: Around a value that is then no answer.
HEDGES = (
    *("maybe {}", "{}?", "probably {}", "{} or {other}", "either {} or {other}", "{} (or {other})", "perhaps {}"),
    *("not {}", "{}, no wait, {other}", "~~{}~~ {other}", "not {} but {other}", "I think {}", "{} and {other}"),
    *("{other}, not {}", "{} is wrong, so {other}", "~~{}~~", "{}; {other}", "{}, {other}"),
)
BOUNDS = (
    "about {}",
    "~{}",
    "\\approx {}",
    "at least {}",
    "{} or more",
    "> {}",
    "\\geq {}",
    "{}-{other}",
    "{} to {other}",
)

NUMBERS = st.integers(1, 99_999)
ANY_LETTER = st.sampled_from(LETTERS[: len(OPTIONS)])
SPANS = st.sampled_from(["Ostrava", "Port Royal", "Grace Hopper", "the Red Fleet", "Saint-Malo", "O'Hara"])


def one(reply: str, kind: str, *values: str, passage: bool = False) -> Grade:
    question = Question(
        id="q",
        text="?",
        passage="…" if passage else None,
        options=OPTIONS if kind == "letter" else (),
        references=(Reference(kind=kind, values=values),),  # type: ignore[arg-type]
    )
    return grade(reply, [question], cut=False)[0]


def one_of(reply: str, options: tuple[str, ...], value: str) -> Grade:
    reference = Reference(kind="letter", values=(value,))
    return grade(reply, [Question(id="q", text="?", options=options, references=(reference,))], cut=False)[0]


@given(NUMBERS, st.sampled_from(WRAPPERS), st.sampled_from(["{}", "-{}", "{}.5", "${}", "{} apples", "{}%"]))
def test_a_number_in_any_wrapping_is_the_number(value: int, wrapper: str, form: str) -> None:
    said = form.format(value)
    assert number(said) is not None
    assert one("ANSWER 1: " + wrapper.format(said), "number", said).score == 1
    assert one("ANSWER 1: " + wrapper.format(said), "number", f"{value + 1}").score == 0


@given(ANY_LETTER, st.sampled_from(WRAPPERS), st.sampled_from(["{}", "({})", "{} is correct", "{}: it moves"]))
def test_a_letter_in_any_wrapping_is_the_letter(value: str, wrapper: str, form: str) -> None:
    assert one("ANSWER 1: " + wrapper.format(form.format(value)), "letter", value).score == 1


@given(SPANS, st.sampled_from(WRAPPERS))
def test_a_span_in_any_wrapping_is_the_span(value: str, wrapper: str) -> None:
    assert one("ANSWER 1: " + wrapper.format(value), "spans", value, passage=True).plain == 1


@given(NUMBERS, ANY_LETTER, SPANS, st.sampled_from(REPLIES))
def test_a_value_counts_wherever_a_reply_holds_it(value: int, chosen: str, span: str, reply: str) -> None:
    assert one(reply.replace("Q", "100000").format(value, value), "number", f"{value}").score == 1
    assert one(reply.replace("Q", "Z").format(chosen, chosen), "letter", chosen).score == 1
    assert one(reply.format(span, span), "spans", span, passage=True).plain == 1


@given(NUMBERS, ANY_LETTER, SPANS, st.sampled_from(TAKEN_BACK))
def test_what_stands_for_what_is_taken_back_counts(value: int, chosen: str, span: str, frame: str) -> None:
    line = "ANSWER 1: " + frame
    assert one(line.format(value, other=value + 7), "number", f"{value}").score == 1
    assert one(line.format(chosen, other="Z"), "letter", chosen).score == 1
    assert one(line.format(span, other="Ghent"), "spans", span, passage=True).plain == 1


@given(NUMBERS, ANY_LETTER, SPANS, st.sampled_from(HEDGES))
def test_a_hedge_a_choice_and_a_denial_are_no_answer(value: int, chosen: str, span: str, frame: str) -> None:
    line = "ANSWER 1: " + frame
    assert one(line.format(value, other=value + 7), "number", f"{value}").score == 0
    assert one(line.format(chosen, other="J" if chosen != "J" else "B"), "letter", chosen).score == 0
    assert one(line.format(span, other="Ghent"), "spans", span, passage=True).plain == 0


@given(NUMBERS, st.sampled_from(BOUNDS))
def test_a_bound_or_an_approximation_is_no_number(value: int, frame: str) -> None:
    assert number(frame.format(value, other=value + 7)) is None


FORMS = {
    "½": Fraction(1, 2),
    "\\frac{1}{2}": Fraction(1, 2),
    "\\dfrac12": Fraction(1, 2),
    "2\\frac{1}{2}": Fraction(5, 2),
    "-\\frac{3}{4}": Fraction(-3, 4),
    "1{,}234": 1234,
    "1\\,234": 1234,
    "1 234": 1234,
    "12 345 678": 12_345_678,
    "64\\%": 64,
    "$64\\%$": 64,
    "$\\$64$": 64,
    "64\\text{ m}^2": 64,
    "64~\\text{km}": 64,
    "−64": -64,
    "６４": 64,
    "64 (sixty-four)": 64,
    "64 (16 boxes of 4)": 64,
    "0.25 (25%)": Fraction(1, 4),
    "64 = 16*4": 64,
    "16 × 4 = 64 tiles": 64,
    "64 because 16 * 4 = 64": 64,
    "64. There are 16 rows of 4.": 64,
    "Ada has 64 stamps": 64,
    "16 rows of 4, so 64": 64,
    "6.4 × 10^1": 64,
    "\\(64\\) tiles": 64,
    "64 — all of them": 64,
    "US $64": 64,
}
NO_FORMS = (
    *("64 (sixty-five)", "64 (65)", "64 (maybe 65)", "64 (or so)", "64 = ?", "64. Or 65.", "64 ± 1", "64 5", "64 12 5"),
    *("64, I think", "64 probably", "64 (not sure)", "Ada has at least 64 stamps", "it is not 64", "64 if it rains"),
    *("64ish", "64. I think.", "64 — maybe 65", "64 tops", "64 (ballpark)", "60 or 65, so 64", "64 x 2", "64 of 70"),
    *("16*4", "sixty-four", "64 minimum", "close to 64", "64 (50 or 64)"),
)


@pytest.mark.parametrize(("text", "value"), FORMS.items())
def test_a_number_is_read_in_latex_and_with_what_explains_it(text: str, value: Fraction) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", NO_FORMS)
def test_what_explains_nothing_leaves_no_number(text: str) -> None:
    assert number(text) is None


@pytest.mark.parametrize(
    ("text", "given"),
    {
        **dict.fromkeys(
            ["Ｆ", "F!", "【F】", "（F）", "F is correct", "F is the right answer", "F because it warms"], "F"
        ),
        **dict.fromkeys(
            ["F (not G)", "F, not G", "F (not A or B)", "F, since heat flows", "F – heat", "F) not G"], "F"
        ),
        **dict.fromkeys(
            ["Letter F", "I choose F", "G, actually F", "G is not correct, so F", "f) heat", "heat (F)"], "F"
        ),
        **dict.fromkeys(["F?", "F, probably", "F (I think)", "F is likely correct", "F is wrong", "F is not correct"]),
        **dict.fromkeys(
            ["A: the answer is C", "F > G", "I: cannot tell", "I cannot tell", "I'd choose B", "I as well"]
        ),
        **dict.fromkeys(["A pulley", "A wave of heat", "Five", "F) light", "F, no wait", "F: not stated"]),
        "I, since atoms are small": "I",
        "I": "I",
    }.items(),
)
def test_a_letter_is_told_from_a_word(text: str, given: str | None) -> None:
    assert letter(text, OPTIONS) == given


def test_an_option_that_says_no_takes_nothing_back() -> None:
    options = ("Yes, because she agreed.", "No, because he paid.")
    assert letter("B: No, because he paid.", options) == "B"
    assert letter("B) No, he paid", options) == "B"


OWN_TEXTS = ("-1", "1", "$2.5 \\times 10^{-6} \\mathrm{~kg}$", "(a) 590, (b) 410", "not red but blue", "i.e. {x, y}")


@pytest.mark.parametrize(
    "frame", ["{}) {}", "({}) {}", "{}. {}", "{}: {}", "**{}) {}**", "{} ({})", "{} – {}", "{} {}"]
)
@pytest.mark.parametrize("place", range(len(OWN_TEXTS)))
def test_a_letter_may_stand_before_any_text_of_its_own(frame: str, place: int) -> None:
    said = frame.format(LETTERS[place], OWN_TEXTS[place])
    assert one_of(f"ANSWER 1: {said}", OWN_TEXTS, LETTERS[place]).score == 1


@pytest.mark.parametrize("text", OWN_TEXTS)
def test_the_text_of_an_option_alone_is_no_letter(text: str) -> None:
    assert letter(text, OWN_TEXTS) is None


@pytest.mark.parametrize(
    ("answer", "values", "official"),
    [
        ("“Grace Hopper”", ("Grace Hopper",), 1),  # unwrapped before it is compared
        ("O’Hara", ("O'Hara",), 0),  # the script knows no curly quote
        ("Saint–Malo", ("Saint-Malo",), 0),
        ("ﬂeet", ("fleet",), 0),
        ("the U.S. Navy.", ("US Navy",), 1),
        ("\n- O’Hara\n- Grace Hopper", ("Grace Hopper", "O'Hara"), 0),
        ("\n1. Ostrava\n2. Ghent", ("Ghent", "Ostrava"), 1),
    ],
)
def test_plain_forms_are_a_score_beside_the_official_one(answer: str, values: tuple[str, ...], official: int) -> None:
    found = one(f"ANSWER 1: {answer}", "spans", *values, passage=True)
    assert (found.score, found.plain) == (official, 1)


@pytest.mark.parametrize(
    ("answer", "kind", "value", "plain"),
    [
        *[(text, "number", "34", 1) for text in ("34 yards", "34-yard", "34.", "34 (thirty-four)", "not 30 but 34")],
        *[(text, "number", "34", 0) for text in ("34; 35", "about 34", "34?", "3.4", "34 or 35 yards")],
        *[(text, "date", "9 June 1912", 1) for text in ("June 9, 1912", "the 9th of June, 1912", "1912-06-09")],
        *[(text, "date", "9 June 1912", 0) for text in ("June 1912", "1912", "9 June", "6 September 1912")],
    ],
)
def test_a_number_has_a_unit_and_a_date_any_order_in_plain_forms(
    answer: str, kind: str, value: str, plain: int
) -> None:
    assert one(f"ANSWER 1: {answer}", kind, value, passage=True).plain == plain


@pytest.mark.parametrize(
    "said", ["not stated", "Not given.", "N/A", "cannot tell", "abstain", "the reference does not say"]
)
@pytest.mark.parametrize(
    ("kind", "value", "passage"), [("number", "3", False), ("letter", "I", False), ("spans", "x", True)]
)
def test_an_answer_that_declines_has_abstained(said: str, kind: str, value: str, passage: bool) -> None:
    found = one(f"ANSWER 1: {said}", kind, value, passage=passage)
    assert (found.score, found.plain, found.outcome) == (0, 0, "abstained")


@pytest.mark.parametrize(
    ("between", "outcome"),
    [
        *[(line, "answered") for line in ("Correction:", "Wait, no.", "**Final answers**", "Sorry, that was wrong.")],
        *[(line, "answered") for line in ("I made a mistake above.", "On second thought:", "Let me recheck.", "Oops!")],
        *[
            (line, "contradicted")
            for line in ("", "No corrections needed.", "The steps:", "Final price below:", "Nothing was wrong.")
        ],
    ],
)
def test_a_later_line_counts_behind_a_correction(between: str, outcome: str) -> None:
    found = one(f"ANSWER 1: 5\n{between}\nANSWER 1: 64", "number", "64")
    assert (found.outcome, found.score) == (outcome, int(outcome == "answered"))


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("ANSWER 1: 5\nWait, it should be 64.", 1),
        ("ANSWER 1: 5\n\nCorrection: 64", 1),
        ("ANSWER 1: 64\nActually, it's 5.", 0),
        ("ANSWER 1: 64\nWait, that is right.", 1),
        ("ANSWER 1: 64\n\nHope it's clear!", 1),
    ],
)
def test_a_line_below_an_answer_may_give_another_value(reply: str, score: int) -> None:
    assert one(reply, "number", "64").score == score


def test_the_last_of_two_lines_counts_for_its_own_number_only() -> None:
    assert answer_lines("ANSWER 1: 5\nANSWER 2: 6\nFinal answers:\nANSWER 2: 7") == {1: ("5",), 2: ("7",)}
    assert answer_lines("Answer 1 is the sum of both.\nANSWER 1: 5") == {1: ("5",)}


def test_thoughts_are_no_part_of_a_reply() -> None:
    assert spoken("a<think>b</think>c<think>d") == "ac"
    assert spoken("a</think>b") == "b"
    assert one("<think>\nANSWER 1: 64", "number", "64").outcome == "missing"


@given(
    st.text(max_size=60), st.sampled_from(["", "ANSWER 1: ", "ANSWER 1:\n", "| ANSWER 1 | ", "ANSWER 1: 5, no wait, "])
)
def test_any_reply_is_graded_and_twice_the_same(text: str, start: str) -> None:
    for kind, value, passage in (("number", "64", False), ("letter", "F", False), ("spans", "Ostrava", True)):
        found = one(start + text, kind, value, passage=passage)
        assert {found.score, found.plain} <= {0, 1}
        assert found == one(start + text, kind, value, passage=passage)
    for read in (surface, resolved, hedged, corrects, value_of):
        read(text)


@given(
    st.sampled_from(["ANSWER 1: 64", "ANSWER 1: F", "ANSWER 1: Ostrava", "ANSWER 1: 6, no wait, 64"]),
    st.integers(0, 30),
    st.sampled_from("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u202a\u2069\ufe0f"),
)
def test_an_invisible_sign_changes_nothing(reply: str, place: int, sign: str) -> None:
    for kind, value, passage in (("number", "64", False), ("letter", "F", False), ("spans", "Ostrava", True)):
        changed = reply[:place] + sign + reply[place:]
        assert one(changed, kind, value, passage=passage) == one(reply, kind, value, passage=passage)


@pytest.mark.parametrize(
    ("text", "value"), [("forty-eight", 48), ("one hundred and two", 102), ("two thousand", 2000), ("a dozen", None)]
)
def test_a_number_in_words_has_its_value(text: str, value: int | None) -> None:
    assert value_of(text) == value
