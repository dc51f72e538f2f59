"""What a server says is shown as text: no character of it acts on a terminal or a log."""

import logging
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_helpers import KEY, KEY_ENV, PROTOCOLS, ask

from rcwt.base import keys
from rcwt.base.errors import CallError, RcwtError
from rcwt.base.visible import in_one_line, visible
from rcwt.run.jobs import logged
from rcwt.wire.faults import PermanentFault, TransientFault

# Clear the screen, name the window, go back over the line, turn the direction, end a line by other means, C1's CSI.
TRICKS = "a\x1b[2J\x1b]0;title\x07\b\r\x7f\x9b31m\u202egnp\u2066\u2028\u2029\x85\x00\ud800\ufeffz"


def is_harmless(text: str) -> bool:
    """By the categories of Unicode: nothing but what is to be seen, line ends, tabs and spaces."""
    shown = [sign for sign in text if sign not in "\n\t"]
    return all(
        unicodedata.category(sign)[0] != "C" and unicodedata.category(sign) not in ("Zl", "Zp") for sign in shown
    )


@given(st.text(st.characters()))
def test_nothing_that_acts_is_left_and_all_else_stays(text: str) -> None:
    shown = visible(text)
    assert is_harmless(shown)
    assert is_harmless(in_one_line(text))
    assert "\n" not in in_one_line(text)
    if is_harmless(text):
        assert shown == text


def test_a_sign_is_written_out_as_python_writes_it() -> None:
    assert visible("\x1b[31m\x9b\u202e\U000e0041\ud800") == "\\x1b[31m\\x9b\\u202e\\U000e0041\\ud800"
    assert visible("naïve 日本 ✅ 5\u00a0ms\n\tend") == "naïve 日本 ✅ 5\u00a0ms\n\tend"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_fault_shows_what_the_server_said(status: int, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)
    fault = ask(protocol, {"status": status, "message": TRICKS.replace("\ud800", "")})
    assert isinstance(fault, TransientFault | PermanentFault)
    assert "\\x1b[2J" in fault.cause
    assert "\\u202egnp" in fault.cause
    assert is_harmless(fault.cause + str(fault))


def test_every_error_of_the_project_is_visible() -> None:
    assert str(RcwtError("first\nsecond \x1b[2J")) == "first\nsecond \\x1b[2J"
    assert is_harmless(str(CallError(TRICKS)))


def test_the_log_of_a_job_is_visible(tmp_path: Path) -> None:
    @logged
    def job() -> None:
        raise ValueError(TRICKS)

    with pytest.raises(ValueError, match="title"):
        job(str(tmp_path / "log"))
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert log.startswith("ValueError: a\\x1b[2J")
    assert is_harmless(log)


def test_records_of_a_guarded_logger_are_visible(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("rcwt.test_visible")
    keys.guard(logger, [])
    logger.warning("the server says %s", TRICKS)
    assert is_harmless(caplog.records[-1].getMessage())
    assert caplog.records[-1].getMessage().startswith("the server says a\\x1b[2J")
