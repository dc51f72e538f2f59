"""The reader against real responses: masked recordings of some thirty services, each with an independent reading."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rcwt.wire.faults import read_error
from rcwt.wire.replies import read_reply, reply_of_error

SHARED = Path(os.environ.get("RCWT_SHARED", Path(__file__).parents[3] / "shared"))
SHAPES = SHARED / "wire" / "shapes.jsonl"


def shapes() -> list[Any]:
    if not SHAPES.exists():
        return [
            pytest.param(
                None,
                marks=pytest.mark.skip(
                    reason=f"the recorded responses are not at {SHAPES} (set RCWT_SHARED to a folder that holds wire/)"
                ),
            )
        ]
    lines = SHAPES.read_text(encoding="utf-8").splitlines()
    return [
        pytest.param(shape, id=f"{number}-{shape['host']}")
        for number, shape in enumerate(map(json.loads, lines), start=1)
    ]


@pytest.mark.parametrize("shape", shapes())
def test_a_real_response_is_read_as_a_careful_person_reads_it(shape: dict[str, Any]) -> None:
    body, expected = shape["body"], shape["expected"]
    error = read_error(shape["status"], json.dumps(body))
    if expected.get("error"):
        assert error is not None
        # A filter that is worded as an error is an outcome, and none that is asked for again.
        assert reply_of_error(error) is None or "content_filter" in error.codes
        return
    assert error is None
    reply = read_reply(shape["protocol"], json.dumps(body), shape["headers"])
    assert reply is not None
    assert reply.status == expected["status"]
    # Of a refusal the text is kept, to be looked at.
    assert reply.text == (body["choices"][0]["message"]["refusal"] if reply.status == "refused" else expected["text"])
    finish = expected.get("finish")
    assert reply.finish_reason == (None if finish is None else str(finish))
    assert (reply.returned_model, reply.response_id) == (expected.get("model"), expected.get("id"))
    usage = reply.usage
    assert (usage.prompt, usage.completion) == (expected["prompt"], expected["completion"])
    assert (usage.cached, usage.reasoning) == (expected["cached"], expected.get("reasoning"))
