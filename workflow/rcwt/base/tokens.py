"""Counting, cutting and repeating text in tokens of cl100k_base, the unit of every budget of the test.

The vocabulary is read from the copy that litellm's wheel carries, so that counting needs no network.
"""

import hashlib
import importlib.util
import os
from functools import cache
from pathlib import Path

import tiktoken

from rcwt.base.errors import RcwtError

ENCODING = "cl100k_base"
#: sha256 of the vocabulary file, as published with the encoding; another file would move every count.
VOCABULARY_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
#: tiktoken names a cached vocabulary by the sha1 of the address it came from.
_VOCABULARY_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"


def vocabulary_folder() -> Path:
    """Folder of litellm's wheel that holds the vocabularies, found without importing litellm."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        raise RcwtError("litellm is not installed, and with it the token vocabulary: pip install -r requirements.txt")
    return Path(spec.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"


@cache
def _encoding() -> tiktoken.Encoding:
    vocabulary = vocabulary_folder() / _VOCABULARY_FILE
    if not vocabulary.is_file() or hashlib.sha256(vocabulary.read_bytes()).hexdigest() != VOCABULARY_SHA256:
        raise RcwtError(
            f"{vocabulary}: not the {ENCODING} vocabulary (expected sha256 {VOCABULARY_SHA256[:12]}…): "
            "reinstall the pinned litellm with pip install -r requirements.txt"
        )
    os.environ["TIKTOKEN_CACHE_DIR"] = str(vocabulary.parent)
    return tiktoken.get_encoding(ENCODING)


def special_tokens() -> frozenset[str]:
    """Texts that the encoding reserves for itself, such as ``<|endoftext|>``; templates may not hold them."""
    return frozenset(_encoding().special_tokens_set)


def encode(text: str) -> list[int]:
    """Tokens of `text`; a special token's literal counts as the plain text it is."""
    return _encoding().encode(text, disallowed_special=())


def decode(tokens: list[int]) -> str:
    """Text of `tokens`; of a character that is cut in two nothing is left, as nobody would write half of one."""
    return _encoding().decode(tokens, errors="ignore")


def count(text: str) -> int:
    """Length of `text` in tokens."""
    return len(encode(text))


def fill(tokens: list[int], budget: int) -> list[int]:
    """Exactly `budget` tokens: a prefix of `tokens`, or `tokens` repeated from their start (paper, Section 3)."""
    if budget <= 0 or not tokens:
        return []
    repeats = -(-budget // len(tokens))
    return (tokens * repeats)[:budget]
