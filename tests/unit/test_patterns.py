"""The pattern language of the rule judge, and the normalised spelling that its patterns are read against."""

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.scoring import patterns
from rcwt.scoring.normalise import _UNDERSCORES, _unemphasised, _unlinked, normalise
from rcwt.scoring.patterns import RunawayPatternError, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("correct", "The answer is CORRECT.", True),
        ("correct", "The answer is INCORRECT.", False),
        ("answer.*correct", "The answer is INCORRECT.", False),
        ("answer.*correct", "The answer is correct.", True),
        ("5 ms", "15ms", False),
        ("5 ms", "5ms", True),
        ("takes.*5 ms", "takes 15 ms", False),
        ("takes [^.]*5 ms", "takes all of 5 ms", True),
        ("8KB", "128KB", False),
        ("8KB", "8 kB.", True),
        ("8KB", "8 KBps", False),
        ("8KB", "(8KB)", True),
        ("8 KB", "8-kilobyte", True),
        ("100K messages per second", "100,000 msgs/s", True),
        ("100,000 messages/s", "100k messages a second", True),
        ("2–3 weeks", "two to three weeks", True),
        ("two to three weeks", "2-3 wks", True),
        ("3 weeks", "13 weeks", False),
        ("3 weeks", "2-3 weeks", False),
        ("(?:2|3) weeks", "3 weeks", True),
        ("[23] weeks", "13 weeks", False),
        (r"\d+ weeks", "13 weeks", True),
        (r"in \d weeks", "in 13 weeks", False),
        (r"0\.5 mm", "10.5 mm", False),
        (r"0.5 mm", "0.5 mm", True),
        ("1.5K requests", "1500 requests", True),
        ("(?:few|many) weeks", "many weeks", True),
        ("weeks?", "a week", True),
        (r"\d weeks?", "3 weeks", True),
        ("week", "weeks", False),
        ("five valves", "5 valves", True),
        ("5 valves", "not 5 valves", False),
        ("5 valves", "4 valves rather than 5 valves", False),
        ("5 valves", "4 valves isn’t it; it has 5 valves", True),
        ("exceed 5 valves", "may not exceed 5 valves", False),
        (r"y\.js", "Y.js", True),
        (r"(\w)\1 valve", "aa valve", True),
        ("(?P<n>five) valves", "5 valves", True),
        ("5 valves(?! of steel)", "5 valves of steel", False),
        ("-40 degrees", "-40 degrees", True),
        ("40 degrees", "-40 degrees", False),
    ],
)
def test_patterns(pattern: str, text: str, expected: bool) -> None:
    assert compile_pattern(pattern).found_in(normalise(text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one hundred thousand", "100000"),
        ("a hundred and twenty-five", "125"),
        ("seven hundred forty-two thousand six", "742006"),
        ("someone alone", "someone alone"),
        ("several hundred thousand", "several hundred thousand"),
        ("1.5 million", "1500000"),
        ("2½ weeks", "2.5 week"),
        ("½ week", "0.5 week"),
        (".5 ms", "0.5 ms"),
        ("3 × 10^4", "30000"),
        ("1e5", "100000"),
        ("12,345,678", "12345678"),
        ("1,234.5", "1234.5"),
        ("1,2 and 3", "1,2 and 3"),
        ("5 to 1", "5 to 1"),
        ("RFC 9420 - 3 options", "rfc 9420 - 3 options"),
        ("5 m", "5 m"),
        ("10 µs", "10 us"),
        ("8&nbsp;KB", "8 kb"),
        ("$8\\,\\text{KB}$", "8 kb"),
        ("\\~5 ms", "5 ms"),
        ("8KB¹", "8 kb"),
        ("[8KB](https://example.org)", "8 kb"),
        ("first second", "first second"),
    ],
)
def test_normalised_spellings(text: str, expected: str) -> None:
    assert normalise(text).strip() == expected


@given(st.integers(0, 10**9))
def test_thousands_separators_are_read_away(number: int) -> None:
    for text in (f"{number:,}", f"{number:,}".replace(",", "\u202f"), f"{number:,}".replace(",", " ")):
        assert normalise(text) == str(number)


@given(st.integers(0, 999), st.integers(0, 999))
def test_ranges_have_one_spelling(low: int, gap: int) -> None:
    high = low + gap + 1
    texts = [f"{low}-{high}", f"{low}–{high}", f"{low} — {high}", f"{low} to {high}", f"between {low} and {high}"]
    assert {normalise(text) for text in texts} == {f"{low}-{high}"}


@pytest.mark.parametrize("pattern", ["(", "[", "a{2", "*", "(?P<1>x)", "x?", ".*", ""])
def test_patterns_that_say_nothing_or_do_not_compile(pattern: str) -> None:
    if pattern == "a{2":  # Python takes a lone brace as a letter
        assert compile_pattern(pattern).found_in("a{2")
        return
    with pytest.raises(ValueError, match=r"not a regular expression|empty text"):
        compile_pattern(pattern)


def test_a_pattern_that_runs_away_is_stopped_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = "(?:a|aa)+b"
    monkeypatch.setattr(patterns, "LONGEST_SEARCH_S", 0.2)
    for search in (lambda found: found.found_in("a" * 3000), lambda found: found.taken_out("a" * 3000, "")):
        with pytest.raises(RunawayPatternError, match=r"more than 0.2 s of CPU on the 3000 characters 'aaaa") as caught:
            search(compile_pattern(pattern))
        assert f"'{pattern}'" in str(caught.value)
        assert caught.value.source == pattern


def test_other_threads_run_while_a_pattern_runs_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop of the calls and the handlers of signals are such threads."""
    monkeypatch.setattr(patterns, "LONGEST_SEARCH_S", 1.0)
    steps = 0

    def step() -> None:
        nonlocal steps
        while not done.wait(0.001):
            steps += 1

    done = threading.Event()
    other = threading.Thread(target=step)
    other.start()
    with pytest.raises(RunawayPatternError):
        compile_pattern("(?:a|aa)+b").found_in("a" * 3000)
    done.set()
    other.join()
    # A search that let nobody else run would leave room for a step or two.
    assert steps > 10


@pytest.mark.parametrize(
    ("pattern", "passage", "expected"),
    [
        # Braces that count nothing are plain in `re`; `regex` by itself reads errors to allow in them.
        ("a{s<=1}b", "axb", False),
        ("a{s<=1}b", "a{s<=1}b", True),
        ("a{}", "a{}", True),
        # The sign behind an emoji is no part of the word after it.
        ("redis", "⚠\ufe0fredis", True),
        ("redis", "xredis", False),
        # "not" far before a match, over a wall of small words, is not its negation.
        ("redis", "not " + "the " * 5 + "redis", False),
        ("redis", "not " + "the " * 50 + "redis", True),
    ],
)
def test_patterns_mean_what_they_mean_to_python(pattern: str, passage: str, expected: bool) -> None:
    assert compile_pattern(pattern).found_in(passage, whole_claim=True) is expected


@pytest.mark.parametrize("pattern", [r"\p{L}", r"(?|a|b)", r"(?R)", "a(?i)b"])
def test_what_only_regex_knows_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="not a regular expression"):
        compile_pattern(pattern)


_SMALL = st.text(st.sampled_from("ab1 *_`[]()<>é²\n"), max_size=30)


@given(_SMALL)
def test_underscores_and_links_are_read_as_their_plain_patterns_say(text: str) -> None:
    """The quick readings against the regular expressions that define them, which take quadratic time."""
    underscores = re.compile(r"(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)")
    assert _UNDERSCORES.sub(_unemphasised, text) == underscores.sub("", text)
    assert _unlinked(text) == re.sub(r"\[([^\]\n]+)\]\([^)\s]*\)", r"\1", text)


def test_what_python_cannot_reckon_with_crashes_nothing() -> None:
    assert "�" in normalise("&#" + "1" * 5000 + ";")
    assert normalise("9" * 2000 + "k").startswith("9" * 2000)
    assert len(normalise("e" + "\u0316\u0300" * 5000)) < 100
