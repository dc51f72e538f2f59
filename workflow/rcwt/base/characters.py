"""Characters in their compatible forms: full width, ligatures, accents that stand apart."""

import unicodedata

import regex

# No word has more marks on one letter, and bringing them into order takes quadratic time.
_MARKS = regex.compile(r"(\p{M}{30})\p{M}+")


def compatible(text: str) -> str:
    """`text` in Unicode's form NFKC, in linear time: of more than 30 marks in a row the rest are left out."""
    return text if text.isascii() else unicodedata.normalize("NFKC", _MARKS.sub(r"\1", text))
