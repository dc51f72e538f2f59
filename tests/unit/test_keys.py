"""A key does not come back, in whichever way a server spells it."""

import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcwt.base import keys

NAME = "RCWT_TEST_SPELLED"
SPELLINGS = {
    "plain": str,
    "capitals": str.upper,
    "web address": lambda key: quote(key, safe=""),
    "web address, small": lambda key: "".join(c if c.isalnum() else f"%{ord(c):02x}" for c in key),
    "page": html.escape,
    "page, all signs": lambda key: "".join(f"&#x{ord(sign):X};" for sign in key),
    "JSON": lambda key: json.dumps(key)[1:-1],
    "JSON in a page": lambda key: (
        json.dumps(key)[1:-1].replace("/", "\\/").replace("=", "\\u003D").replace("&", "\\u0026")
    ),
    "JSON, all signs": lambda key: "".join(f"\\u{ord(sign):04x}" for sign in key),
    "base64": lambda key: base64.b64encode(key.encode()).decode().rstrip("="),
}


@given(st.text("abcXYZ019-_.~+/=&'\"<%\\:", min_size=16, max_size=40), st.sampled_from(sorted(SPELLINGS)))
def test_a_key_is_scrubbed_however_it_is_spelled(key: str, spelling: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_known", set())
        patch.setenv(NAME, key)
        assert keys.read_key(NAME) == key
        assert keys.scrub(f"[{SPELLINGS[spelling](key)}]") == f"[{keys.SCRUBBED}]"


def test_words_that_are_no_key_stay() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_known", set())
        patch.setenv(NAME, "ollama-local")
        keys.read_key(NAME)
        assert keys.scrub("OLLAMA-LOCAL, ollama and local") == "OLLAMA-LOCAL, ollama and local"
        assert keys.scrub("ollama-local") == keys.SCRUBBED
        # A reply is a model's own words: only what can be no word is cut from it.
        assert keys.scrub("ollama-local", keys.SURELY_A_SECRET) == "ollama-local"
