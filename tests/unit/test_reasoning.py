"""Reasoning that stands in a reply: what is taken off, what is left, and what a reply without an answer counts as."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_helpers import record
from pydantic import ValidationError

from rcwt.base.reasoning import USUAL, answered, parted
from rcwt.base.records import TrialRecord
from rcwt.base.request import Request
from rcwt.calls.requests import records
from rcwt.config.schema import Model
from rcwt.packs.grading import grade
from rcwt.packs.items import Question, Reference
from rcwt.scoring.by_form import by_answers
from rcwt.scoring.by_rules import by_rules
from rcwt.study.tasks import load_task

TEMPLATES = Path(__file__).parents[2] / "resources/templates"
NOT_STATED = "\n".join(f"{number}. not stated" for number in range(1, 7))
PLAIN = st.text(alphabet=st.characters(exclude_characters="<[◁"), max_size=80)


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("<think>The limit is 8KB.</think>\n\nnot stated", "not stated", "The limit is 8KB."),
        # The opening tag was part of the prompt.
        ("The limit is 8KB.\n</think>\nnot stated", "not stated", "The limit is 8KB."),
        ("<think>I should check", "", "I should check"),
        ("<think></think>48", "48", None),
        ("<THINK>a</Think >b", "b", "a"),
        ("[THINK]a[/THINK]b", "b", "a"),
        ("◁think▷a◁/think▷b", "b", "a"),
        ("<think>a</think>b<think>c</think>d", "bd", "a\n\nc"),
        # A closing tag too many, and tags that it thinks about.
        ("<think>It says </think> here.</think>b", "b", "It says\n\nhere."),
        ("<think>Put it in <think> tags?</think>b", "b", "Put it in <think> tags?"),
        ("<think>a <reasoning>b</reasoning> c", "", "a\n\nb\n\nc"),
        ("<think>a <thought> b</think>c", "c", "a\n\nb"),
        ("<thinking>a</think>b", "b", "a"),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
            "b",
            "a<|end|>",
        ),
        ("Wrap it in `<think>` and `</think>`.", "Wrap it in `<think>` and `</think>`.", None),
        ("I think </b> that <b>48</b>", "I think </b> that <b>48</b>", None),
        ("  48 \n", "  48 \n", None),
    ],
)
def test_what_is_answer_and_what_is_reasoning(text: str, answer: str, reasoning: str | None) -> None:
    assert parted(text)[:2] == (answer, reasoning)


@given(PLAIN, PLAIN, st.sampled_from(USUAL))
def test_reasoning_between_any_usual_tags_leaves_the_answer(thought: str, said: str, tags: tuple[str, str]) -> None:
    opening, closing = tags
    whole = parted(f"{opening}{thought}{closing}{said}")
    assert whole == (said.strip(), thought.strip() or None, False)
    assert parted(f"{thought}{closing}{said}") == whole
    assert parted(f"{opening}{thought}") == ("", thought.strip() or None, True)
    assert parted(whole.answer) == (whole.answer, None, False)


@given(st.text(alphabet="<>/think[]THINK◁▷` \n", max_size=60))
def test_any_text_parts_the_same_way_each_time(text: str) -> None:
    once = parted(text)
    assert parted(text) == once
    assert parted(text, []) == (text, None, False)
    if not any(sign in text for sign in "<[◁"):
        assert once == (text, None, False)


def test_tags_of_ones_own_replace_the_usual_ones() -> None:
    own = [("<scratch>", "</scratch>")]
    assert parted("<scratch>a</scratch>b", own).answer == "b"
    assert parted("<think>a</think>b", own).answer == "<think>a</think>b"


@pytest.mark.parametrize(
    ("status", "text", "counted"),
    [
        ("ok", "<think>The sum is 71", "empty"),
        ("truncated", "<think>The sum is 71", "truncated"),
        ("unknown_finish", "<think>The sum is 71</think>", "empty"),
        ("ok", "<think>The sum is 71</think>48", "ok"),
        ("filtered", "<think>The sum", "filtered"),
        ("ok", "48", "ok"),
        ("empty", None, "empty"),
    ],
)
def test_a_reply_that_only_reasons_is_no_answer(status: str, text: str | None, counted: str) -> None:
    response = record(0, text, status=status).response
    found = answered(response)
    assert found.status == counted
    assert found.model_copy(update={"status": status, "text": text, "reasoning_text": None}) == response


def test_what_was_only_thought_is_no_hit_of_any_scorer() -> None:
    task, algorithmic = load_task(TEMPLATES / "spec_recall"), load_task(TEMPLATES / "algorithmic")
    thought = "2. PostgreSQL LISTEN/NOTIFY has a payload limit of 8KB. Rich text is built on ProseMirror.\n"
    lines = "\n".join(f"{answer.id}: {answer.answer}" for answer in algorithmic.answers)

    def kept(text: str, status: str = "ok") -> list[TrialRecord]:
        one = record(0, text, status=status)
        return [one.model_copy(update={"response": answered(one.response)})]

    [said] = by_rules(kept(f"<think>{thought}</think>{NOT_STATED}"), task.items)
    assert set(said.items.values()) == {0}
    [said] = by_rules(kept(thought), task.items)
    assert said.items["pg_limit"] == 1
    [said] = by_answers(kept(f"<think>{lines}", "truncated"), algorithmic.answers)
    assert (said.status, set(said.items.values())) == ("non_answer", {0})
    [said] = by_answers(kept(lines), algorithmic.answers)
    assert set(said.items.values()) == {1}
    question = Question(id="1", text="?", references=(Reference(kind="number", values=("12",)),))
    answer = answered(record(0, "ANSWER 1: 13\nNo, 12.</think>ANSWER 1: 12").response).text
    assert grade(answer or "", [question], cut=False)[0].score == 1


def test_a_record_holds_both_and_the_response_stays_as_it_came() -> None:
    came = record(0, "<think>a</think>b").response
    prompt = {"condition": "c", "prompt_sha256": "0" * 64}
    asked = [Request("vendor", "openai/m", (), {}, "coord_first", 0)]
    [kept] = records(prompt, "m", asked, [came], USUAL)
    assert (kept.response.text, kept.response.reasoning_text) == ("b", "a")
    assert came.text == "<think>a</think>b"
    [kept] = records(prompt, "m", asked, [came], [])
    assert (kept.response.text, kept.response.reasoning_text) == (came.text, None)


@pytest.mark.parametrize(
    "tags", [["<think>"], [["<think>"]], [["<t>", "<t>"]], [["", "</t>"]], [[" <t>", "</t>"]], [["<T>", "<t>"]], "x"]
)
def test_a_pair_that_cannot_be_one_is_refused(tags: object) -> None:
    with pytest.raises(ValidationError):
        Model.model_validate({"litellm": "openai/m", "reasoning_tags": tags})


def test_the_tags_of_an_entry() -> None:
    entry = {"litellm": "openai/m", "reasoning_tags": [["<s>", "</s>"]]}
    assert Model.model_validate(entry).reasoning_tags == [("<s>", "</s>")]
    assert Model.model_validate(json.loads(Model.model_validate(entry).model_dump_json())).reasoning_tags
