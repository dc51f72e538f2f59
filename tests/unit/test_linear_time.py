"""Every parser of a foreign text takes time that grows with the text's length, whatever stands in it.

A reply is made by somebody else's model. One regular expression that tries a run of spaces in all its splits holds up
every call of the run, and outlives Ctrl-C. So each parser reads 100 kB of what its own grammar finds hardest, and may
take a fixed number of times what one pass over the characters takes in the same process: CPU time against CPU time.
"""

import inspect
import itertools
import pkgutil
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import pytest

import rcwt
from rcwt.base import characters, declining, keys, reasoning
from rcwt.base.number_words import value_of
from rcwt.base.visible import in_one_line, visible
from rcwt.packs import corrections, drop, letters, numerals, plain_spans, spans, surface
from rcwt.packs.answers import answer_lines
from rcwt.packs.grading import grade
from rcwt.packs.items import Question, Reference
from rcwt.reader import demands as reader_demands
from rcwt.reader import text as reader_text
from rcwt.scoring import (
    abstentions,
    answers,
    assertions,
    fields,
    judge_reply,
    normalise,
    passages,
    patterns,
    quantities,
    rules,
    statements,
    subjects,
    understood,
    yes_no,
)
from rcwt.study.tasks import load_task
from rcwt.wire import bodies
from rcwt.wire.faults import read_error
from rcwt.wire.replies import read_reply

#: Characters of a text of the signs in `_SIGNS`, and of one of the words in `_WORDS`, of which there are many.
LENGTH, WORDS_LENGTH = 100_000, 10_000
#: Times that one pass over the characters takes, in Python. Quadratic time is ten times more and above.
ROOM = 600

TEMPLATES = Path(__file__).parents[2] / "resources/templates"
TASK, ALGORITHMIC = load_task(TEMPLATES / "spec_recall"), load_task(TEMPLATES / "algorithmic")
DEMANDS = understood.demands_of((TEMPLATES / "spec_recall/instruction.md").read_text(encoding="utf-8"))
SUBJECT, VALUE = patterns.compile_pattern("backend"), patterns.compile_pattern("1 week")
ITEMS = [item.id for item in TASK.items]
FIELDS = [field.id for field in TASK.fields]
NAMES = [answer.id for answer in ALGORITHMIC.answers]
OPTIONS = ("a dog", "two dogs", "12", "none of these")
QUESTIONS = (
    Question(id="1", text="?", references=(Reference(kind="number", values=("12",)),)),
    Question(id="2", text="?", options=OPTIONS, references=(Reference(kind="letter", values=("B",)),)),
    Question(id="3", text="?", passage="…", references=(Reference(kind="spans", values=("a dog", "two dogs")),)),
)
PLAIN = [Reference(kind="date", values=("12 May 1854",)), Reference(kind="number", values=("12",))]
KEY = "sk-ant--api03__AbCdEfGhIj-KlMnOpQrSt--uVwXyZ"

Parser = Callable[[str], object]
T = TypeVar("T")


def _one_of(records: Sequence[T], text: str) -> T:
    """A record by how the text begins: all of them on each text take minutes, and each has its own patterns."""
    return records[sum(map(ord, text[:50])) % len(records)]


_COUNTED = itertools.count()
#: Each parser by its module and name. A new one is added here; `test_every_parser_is_in_the_table` finds those missing.
PARSERS: dict[str, Parser] = {
    "wire.bodies.read_json": lambda text: _or_error(bodies.read_json, text),
    "wire.bodies.whole_number": lambda text: _or_error(bodies.whole_number, text),
    "wire.faults.read_error": lambda text: read_error(500, text),
    "base.characters.compatible": characters.compatible,
    "base.declining.declines": declining.declines,
    "base.declining.DECLINING": declining.DECLINING.search,
    "base.keys.scrub": keys.scrub,
    "base.reasoning.parted": reasoning.parted,
    "base.number_words.value_of": value_of,
    "packs.answers.answer_lines": answer_lines,
    "packs.corrections.amends": corrections.amends,
    "packs.corrections.concluded": corrections.concluded,
    "packs.corrections.corrects": corrections.corrects,
    "packs.corrections.hedged": corrections.hedged,
    "packs.corrections.resolved": lambda text: [corrections.resolved(start + text) for start in ("", "not ", "50, ")],
    "packs.drop.split_context": drop.split_context,
    "packs.grading.grade": lambda text: [grade(start + text, QUESTIONS, cut=False) for start in ("", "ANSWER 3: ")],
    "packs.letters.letter": lambda text: [letters.letter(start + text, OPTIONS) for start in ("", "(A)", "the answer")],
    "packs.numerals.number": lambda text: [numerals.number(start + text) for start in ("", "12", "1 2")],
    "packs.numerals.unwrapped": numerals.unwrapped,
    "packs.plain_spans.agrees": lambda text: plain_spans.agrees(text, text + "x"),
    "packs.plain_spans.plain_form": plain_spans.plain_form,
    "packs.plain_spans.plain_score": lambda text: plain_spans.plain_score(text, PLAIN),
    "packs.spans.normalise": spans.normalise,
    "packs.spans.readings": spans.readings,
    "packs.spans.score": lambda text: spans.score(text, [("a dog", "two dogs"), ("12",)]),
    "packs.surface.narrow": surface.narrow,
    "packs.surface.spoken": surface.spoken,
    "packs.surface.surface": surface.surface,
    "packs.surface.unlatexed": surface.unlatexed,
    "reader.demands.answer_lines": lambda text: reader_demands.answer_lines(f"ANSWER n: {text}", text),
    "reader.demands.asks_judgement": reader_demands.asks_judgement,
    "reader.demands.demands": reader_demands.demands,
    "reader.demands.json_fields": lambda text: reader_demands.json_fields(f"json {text}"),
    "reader.demands.needs_reasoning": reader_demands.needs_reasoning,
    "reader.text.phrase": lambda text: reader_text.phrase(text, {"redis"}),
    "reader.text.quantity": lambda text: reader_text.quantity(text, {"redis"}),
    "reader.text.sentences": reader_text.sentences,
    "reader.text.words": reader_text.words,
    "wire.replies.read_reply": lambda text: [
        read_reply(protocol, text, {}) for protocol in ("openai", "anthropic", "gemini")
    ],
    "scoring.answers.declined_answers": lambda text: answers.declined_answers(text, NAMES),
    # What is kept by its text begins anew with each: see below.
    "scoring.abstentions.abstained_items": lambda text: abstentions.abstained_items(
        f"{text} {next(_COUNTED)}", TASK.items[:2], DEMANDS
    ),
    "scoring.assertions.asserted": lambda text: assertions.asserted(f"{text} {next(_COUNTED)}", "upper"),
    "scoring.assertions.clauses": assertions.clauses,
    "scoring.assertions.standing": lambda text: assertions.standing([text, f"wait, {text}", f"it {text}"]),
    "scoring.answers.read_answers": lambda text: answers.read_answers(text, NAMES),
    "scoring.answers.score_answers": lambda text: answers.score_answers(f"sum_correct{text}", ALGORITHMIC.answers),
    "scoring.fields.declined_fields": lambda text: fields.declined_fields('{"pg_limit": "' + text, TASK.fields),
    "scoring.fields.read_fields": lambda text: fields.read_fields(text, FIELDS),
    "scoring.fields.right": lambda text: fields.right(f"5 ms {text}", _one_of(TASK.fields, text)),
    "scoring.fields.score_fields": lambda text: fields.score_fields('{"pg_limit": "8 KB", "x": [' + text, TASK.fields),
    "scoring.judge_reply.parse": lambda text: judge_reply.parse(text, ITEMS),
    "scoring.normalise.clean": normalise.clean,
    "scoring.normalise.normalise": normalise.normalise,
    "scoring.passages.passages": passages.passages,
    "scoring.passages.numbered_passages": passages.numbered_passages,
    "scoring.patterns.negated": lambda text: patterns.negated(f"not {text} ", len(text) + 5),
    "scoring.quantities.one_candidate": quantities.one_candidate,
    "scoring.quantities.within_bound": lambda text: [quantities.within_bound(text, bound) for bound in ("upper", None)],
    # Outcomes are kept by text: a space at the end makes each of them new.
    "scoring.statements.statements": lambda text: statements.statements(text, NAMES),
    "scoring.yes_no.doubtful": yes_no.doubtful,
    "scoring.yes_no.said": lambda text: [yes_no.said(start + text) for start in ("", "YES ", "not ")],
    "scoring.rules.judge": lambda text: rules.judge(text + " " * next(_COUNTED), [_one_of(TASK.items, text)], DEMANDS),
    "scoring.subjects.another_named": lambda text: subjects.another_named(SUBJECT, text, DEMANDS[4]),
    "scoring.subjects.another_nearer": lambda text: subjects.another_nearer(
        SUBJECT, VALUE, f"backend team {text} 1 week"
    ),
    "scoring.understood.demands_of": understood.demands_of,
    "base.visible.in_one_line": in_one_line,
    "base.visible.visible": visible,
}
#: Parsers made of others in the table, which read all texts: these read every fifth.
COMPOSED = frozenset(
    {
        "scoring.abstentions.abstained_items",
        "scoring.assertions.asserted",
        "scoring.assertions.standing",
        "scoring.fields.right",
        "scoring.fields.score_fields",
        "scoring.passages.passages",
        "scoring.rules.judge",
    }
)
#: How the first argument of a parser is called, in all modules.
_TEXTS = frozenset({"text", "reply", "answer", "passage", "message", "body", "context", "digits"})
#: Modules whose functions take texts of the project's own, or make messages: no foreign text reaches them.
_OWN_TEXTS = frozenset(
    {
        "base.digests",
        "base.files",
        "base.tokens",
        "published.artifact",
        "report.figures",
        "report.printing",
        "report.tables",
        "study.evidence",
        "study.prompts",
        "trials.caps",
    }
)

#: What a text is repeated of: signs, and words of the grammars.
_SIGNS = (
    *(
        " ",
        "\n",
        "*",
        "_",
        "`",
        "#",
        "-",
        "{",
        "}",
        '{"',
        '{"a":',
        "[",
        "]",
        "(",
        "|",
        '"',
        "'",
        "0",
        "1",
        ",",
        ".",
        "a",
        "<b ",
        "[a](",
    ),
)
_WORDS = (
    *(
        "\t",
        "\r",
        "\u00a0",
        "+",
        "=",
        ":",
        ";",
        "!",
        "?",
        "/",
        "\\",
        "~",
        ")",
        "<",
        ">",
        "“",
        "$",
        "%",
        "&",
        "@",
        "^",
        "9",
        "A",
        "é",
    ),
    *("ß", "½", "²", "①", "\u0301", "\u0316\u0300", "✅\ufe0f", "\u200b", "\x1b", "\x00"),
    *(
        '{"a":1}',
        '{"a":\n',
        '\n{"x\\"',
        '\n{"pg_limit"',
        '\n{"pg_limit":1,}',
        '{"":{"":[',
        "[[",
        '"\\"',
        "{}",
        "{ ",
        "[1,",
    ),
    *(
        "\n" + " " * 90 + '\n{"pg_limit":',
        '{"pg_limit": "8 KB"} ',
        "{id: 1",
        "{'mls_rfc'",
        '{"mls_rfc":1}',
        '"mls_rfc":1,',
    ),
    *("<think>", "</think>", "<think", "<think></think >", "[THINK]", "◁think▷a", "`<think>`", "<|channel|>analysis"),
    *("<b>", "</b>", "<sup>1", "<br", "<br ", "[a](b)", "](", "\\text{", "\\text ", "~~a", "&#1", "&#x1", "&amp", "&"),
    *(
        "# a\n",
        "# ",
        "#\t",
        "**a** ",
        "** ",
        "__a",
        "a__",
        "- a\n",
        "1. a\n",
        " 1. a\n",
        "a)\n",
        "|a",
        "|\n",
        "|-",
        "---|",
        "a|b\n",
    ),
    *("a: ", "a:\n", "e.g. A ", "A. ", "It a. ", ".)", ". A", "> ", "```\n", "\n\n", "\n- a\n  b"),
    *(
        "ANSWER 1",
        "ANSWER 1: ",
        "ANSWER ",
        "ANSWER 1: 12\n",
        "ANSWER 2: (B) or\n",
        "**ANSWER",
        "[ANSWER 3: a;",
        "ANSWER 3: a and ",
    ),
    *("<think>", "</think>", "<|im_end|>", "<|", "</s>", "<s>1</s> ", "<s>1", "[INST", "~~1~~ ", "~~ANSWER"),
    *(
        "\\frac{",
        "\\frac{1}{2}",
        "\\frac12",
        "\\boxed{",
        "\\text{\\text{",
        "\\$",
        "\\,",
        "\\[",
        "{,}",
        "$$",
        "^{",
        "\\\\",
    ),
    *(
        "no wait ",
        "no, wait, ",
        "1, no, ",
        "wait",
        "actually, ",
        "not 1 but ",
        "not 1 ",
        ", not 1",
        " (not ",
        "is wrong, so ",
    ),
    *(
        "Correction:\n",
        "final ",
        "Wait, ANSWER 1: 1\n",
        "ANSWER 1:\n",
        "ANSWER 1:\n- a\n",
        "| ANSWER 1 | ",
        "ANSWER 1 (",
    ),
    *(
        "1 (",
        "1 (2) ",
        "because ",
        "1 because ",
        ". Since ",
        "1. A",
        "1 = ",
        "= 1*",
        "Tom has ",
        "Ａ",
        "【",
        "（",
        "B is ",
        "B (not C) ",
    ),
    *(
        "“a” ",
        "a–b ",
        "1. a 2. b ",
        "March ",
        "one hundred and ",
        ", so 1",
        "12, so ",
        "1 — a ",
        "64 of ",
        "not stated ",
        "no answer ",
        "it's the answer ",
    ),
    *(
        "Passage: ",
        "\nQuestion: ",
        "\nAnswer:",
        "a and ",
        " and",
        " & ",
        ", ",
        "; ",
        "B or ",
        ", A",
        "(A) ",
        "the answer is ",
    ),
    *(
        "1,000",
        ",000",
        " 000",
        "1.",
        "1 ",
        "1-",
        "1e3",
        "10^",
        "3/4 ",
        "1 1/",
        "two ",
        "hundred ",
        "one thousand ",
        "1 to ",
        "1 week to ",
    ),
    *(
        "not the ",
        "the ",
        "instead of ",
        "5 ms",
        "5 ms ",
        "1 ms",
        "8 KB",
        "over ",
        "over .",
        "100K ",
        "messages per second ",
        "~ ",
        "about ",
    ),
    *(
        "streams",
        "streams ",
        "pub/sub ",
        "pubsub",
        "redis ",
        "recommend",
        "recommended ",
        "option b ",
        "rich text ",
        "prosemirror ",
    ),
    *(
        "encryption ",
        "migrat",
        "week",
        "2-3 weeks ",
        "ramp-up ",
        "server-side ",
        "symmetric key per document ",
        "2 options ",
    ),
    *(
        "sum_correct: NO... wait, YES ",
        "\nsum_correct: YES",
        "sum_correct, ",
        "1. YES ",
        "\n2. ",
        "YES: ",
        "or YES ",
        "not NO ",
    ),
    *(
        "\nAnswer: YES",
        "\nDraft:\n",
        "\nFinal answers:\n",
        "a_b: ",
        "maybe ",
        "[ ] YES ",
        "\n\n### a\n",
        "sum correct: ",
    ),
    *("<|im_end|>", "<td>", "<tr", "is YES. ", "the answer to ", "wait, ", "if "),
    *("not stated ", "n't ", "no value ", "none of ", "unclear ", "it is not ", "1. not stated\n", "the reference "),
    *(
        "no, wait ",
        "... ",
        ", actually ",
        "scratch that ",
        "rather ",
        "i mean ",
        "(no ",
        ", which ",
        ", and ",
        " but ",
        " | ",
    ),
    *(
        "5 or ",
        "a or b ",
        "a/b ",
        "5 ms or 6 ms ",
        "more than 5 ",
        "at most ",
        "limit is ",
        "over 5 ms fails ",
        "up to 5 ",
    ),
    *("agent 2 ", "said by ", "agent said ", "if ", "perhaps ", "backend team ", "a team ", "limit of a ", '", "1": "'),
    *("chosen ", "over a ", "instead of ", "instead of 5 ", "would ", "this is wrong ", "Answer 1 reads: "),
    *("sum_correct", "sum_correct ", "sum_correct: YES ", "sum_correct|", "(a)", "YES or ", "NO, it is "),
    *(
        "q1. ",
        "A. x ",
        "A. x B. y ",
        "is it? ",
        "return\n",
        "def f(",
        "what",
        "a_b",
        "`a`",
        '"a": "',
        '"a":<',
        "- `a` (",
        "AB ",
        "1a ",
    ),
)
#: What stands before the repeated part, so that what it begins is never finished.
_BEGUN = ("", "# a", "**a", "ANSWER 1", "|", '{"pg_limit": "', "sum_correct")


def _or_error(parse: Parser, text: str) -> object:
    try:
        return parse(text)
    except ValueError as error:
        return error


def texts(length: int = LENGTH, words_length: int = WORDS_LENGTH) -> Iterator[str]:
    """The signs and words again and again, begun and unfinished; long titles over many items; much that is nested."""
    for unit in _SIGNS:
        yield unit * (length // len(unit)) + "x"
    for place, unit in enumerate((*_SIGNS, *_WORDS)):
        yield unit * (words_length // len(unit))
        yield _BEGUN[place % len(_BEGUN)] + unit * (words_length // len(unit)) + "x"
    half = words_length // 2
    numbered = [f"{number}\n" for number in range(half // 6)]
    for title in (
        "# " + "a " * (half // 2),
        "1. " + "a" * half,
        "- " + "a " * (half // 2),
        "a|" + "b" * half + "\n-|-",
    ):
        for mark in ("- ", "x. A ", "a|"):
            yield title + "\n" + mark.join(["", *numbered])
    yield "".join(" " * depth + "1. a\n" for depth in range(int((2 * words_length) ** 0.5) - 40)) + "a\n\n" * (
        half // 3
    )
    yield "{" * half + "}" * half
    yield "[" * half + "]" * half
    yield '{"pg_limit": ' + "[" * 900 + '"' + "5 ms " * (half // 5) + '"' + "]" * 900 + "}"
    yield '{"pg_limit": ' + "[" * 900 + '"' + " " * half + '"' + "]" * 900 + "}"
    yield "{" + ",".join(f'"a{number}":1' for number in range(half // 5)) + ',"mls_rfc":1}'
    yield " ".join(f"*{number}_" for number in range(half // 4))


def _one_pass(text: str) -> float:
    began = time.thread_time()
    for sign in text:
        sign.isspace()
    return time.thread_time() - began


@pytest.fixture(scope="module", autouse=True)
def _key(monkeypatch_module: pytest.MonkeyPatch) -> None:
    monkeypatch_module.setenv("LINEAR_KEY", KEY)
    keys.read_key("LINEAR_KEY")


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def one_pass() -> float:
    """CPU seconds of one pass over 100 kB in this process, the quickest of some."""
    return min(_one_pass("a" * LENGTH) for _ in range(20))


def _taken(name: str, text: str) -> float:
    began = time.thread_time()
    PARSERS[name](text)
    return time.thread_time() - began


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_takes_linear_time(name: str, one_pass: float) -> None:
    PARSERS[name]("ANSWER 3: a; b")  # what is imported or compiled on the way is no part of the time
    pairs = zip(texts(), texts(LENGTH // 4, WORDS_LENGTH // 4), strict=True)
    for text, quarter in itertools.islice(pairs, 0, None, 5 if name in COMPOSED else 1):
        if (taken := _taken(name, text)) > ROOM * one_pass * len(text) / LENGTH:
            # So many passes are made where many patterns are tried. Linear time is 4 times that of a quarter, quadratic
            # 16 times. A busy machine adds to one measurement and not to the least of several.
            of_quarter = _taken(name, quarter)
            for _ in range(10):
                if taken < 9 * of_quarter:
                    break
                taken, of_quarter = min(taken, _taken(name, text)), min(of_quarter, _taken(name, quarter))
            assert taken < 9 * of_quarter, f"{taken / of_quarter:.1f} times a quarter of {text[:40]!r}…{text[-20:]!r}"


def test_every_parser_is_in_the_table() -> None:
    found = set()
    for module in pkgutil.walk_packages(rcwt.__path__, "rcwt."):
        short = module.name.removeprefix("rcwt.")
        if short in _OWN_TEXTS:
            continue
        for name, function in inspect.getmembers(import_module(module.name), inspect.isfunction):
            first = next(iter(inspect.signature(function).parameters.values()), None)
            public = function.__module__ == module.name and not name.startswith("_")
            if public and first and first.name in _TEXTS and first.annotation in (str, "str"):
                found.add(f"{short}.{name}")
    assert found - set(PARSERS) == set()
    assert len(found) > 30
