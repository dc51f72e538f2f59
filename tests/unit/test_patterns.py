"""The pattern language of the rule judge, and the normalised spelling that its patterns are read against."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.scoring.normalise import normalise
from rcwt.scoring.patterns import compile_pattern


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
