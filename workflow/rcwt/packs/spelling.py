"""An answer in plain spelling: without what nobody sees or typesets, and without what its line takes back.

Nothing here changes a value: `\\frac{1}{2}` becomes 1/2, `$\\text{48}$` 48, `not 50 but 48` 48, `48</s>` 48.
"""

import re
import unicodedata

import regex

from rcwt.base.corrections import TAKES_BACK
from rcwt.base.phrases import last_match

_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u00ad]")
# No word has more marks on one letter, and bringing them into order takes quadratic time.
_MARKS = regex.compile(r"(\p{M}{30})\p{M}+")
#: Signs by which tokenizers and chat templates end a text.
_END = re.compile(
    r"\s*(?:</?s>|<\|[^<>|\n]{1,30}\|>|</?(?:end_of_turn|eos|bos|pad|unk|answer|final|response|solution)>|\[/?(?:INST|END)\]|\u25c1[^\u25b7\n]{1,20}\u25b7)\s*\Z",
    re.IGNORECASE,
)
_MOST_ENDS = 8
_TAG = re.compile(
    r"</?(?:b|strong|i|em|u|code|mark|span|p|sup|sub|answer|big|small)(?: [^<>\n]{0,100})?>|<br ?/?>", re.IGNORECASE
)
_STRUCK_OUT = re.compile(r"~~[^~\n]+~~|<(?:s|del|strike)>[^<\n]{0,200}</(?:s|del|strike)>")
_FRACTION = re.compile(
    r"(?<=\d)?\s?\\[dtc]?frac\s*(?:\{\s*([^{}\\]{1,40}?)\s*\}\s*\{\s*([^{}\\]{1,40}?)\s*\}|(\d)\s*(\d))"
)
_COMMAND = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathbf|mathrm|mathit|mathsf|boldsymbol|bm|operatorname|mbox|fbox|boxed|underline|emph)\s*\{([^{}]*)\}"
)
_SPACES = re.compile(r"\\[,;:!> ]|\\(?:quad|qquad|left|right|displaystyle)(?![a-zA-Z])|(?<=\d)~(?=\S)")
_ESCAPED = re.compile(r"\\(?=[%$#&_{}])")
_SIGNS = {
    "\\times": "×",
    "\\cdot": "·",
    "\\div": "÷",
    "\\pm": "±",
    "\\approx": "≈",
    "\\leq": "≤",
    "\\geq": "≥",
    "\\le": "≤",
    "\\ge": "≥",
    "\\neq": "≠",
}
_MATHS = re.compile(r"\\[\[\]()]|\$\$")
_DOLLARS = re.compile(r"\s*\$((?:[^$\\\n]|\\[^\n])*)\$\s*")
_TITLE = re.compile(r"\A\s*#{1,6}\s+")
_LAST_PUNCTUATION = re.compile(r"[,;:!。、！，；．…]+\s*\Z")
#: What takes back what stands before it in a line.
_CORRECTION = re.compile(
    r"(?:[\s.,;:!?—–…()-]|\A)(?:(?:no|oh|hmm+|oops|ah|sorry|but|well)[,.!…]?\s+){0,2}"
    rf"(?:{TAKES_BACK}|no(?=[,:;.!…—–-]))(?:[,:;.!…—–-]|\s)+"
    r"(?:(?:no|it|that|the answer|this|final answer)\b[,.:]?\s+)?(?:(?:is|should be|must be|was)\s+)?",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(r"\A\s*not\s+[^\n]{1,60}?,?\s+but\s+(?:rather\s+)?(?=\S)", re.IGNORECASE)
_IS_WRONG = re.compile(
    r"\A[^\n]{1,60}?\s(?:is|was|cannot be|can't be)\s(?:wrong|incorrect|false|not (?:right|correct|it)|ruled out|out)"
    r"\s*[,;:.—–-]+\s*(?:so|therefore|thus|hence|but|and)?,?\s*(?:it is|it's|the answer is)?\s*(?=\S)",
    re.IGNORECASE,
)


def visible(reply: str) -> str:
    """A reply without characters that nobody sees, its letters and digits in their plain width.

    Fractions such as `½` and powers such as `²` stay: their compatibility forms are other numbers.
    """
    text = _INVISIBLE.sub("", reply)
    if text.isascii():
        return text
    text = _MARKS.sub(r"\1", text)
    plain = "".join(
        sign if unicodedata.category(sign) in ("No", "Nl") else unicodedata.normalize("NFKC", sign) for sign in text
    )
    return unicodedata.normalize("NFC", plain)


def plain(answer: str) -> str:
    """An answer in plain spelling; what its line takes back is gone."""
    text = _STRUCK_OUT.sub(" ", visible(answer))
    for _ in range(_MOST_ENDS):
        shorter = _END.sub("", text)
        if shorter == text:
            break
        text = shorter
    text = _TITLE.sub("", _TAG.sub("", text))
    if "\\" in text or "$$" in text or "{,}" in text:
        text = _typeset(text)
    return _LAST_PUNCTUATION.sub("", standing(text)).strip()


def standing(text: str) -> str:
    """What a line says in the end: behind its last correction, behind `not 50 but`, behind `D is wrong, so`."""
    last = last_match(_CORRECTION, text)
    if last and text[last.end() :].strip():
        text = text[last.end() :]
    for taken_back in (_NOT_BUT, _IS_WRONG):
        text = taken_back.sub("", text, count=1)
    return text.strip()


def _typeset(text: str) -> str:
    """`text` without LaTeX commands that only set it."""
    inner = _DOLLARS.fullmatch(text)
    text = _SPACES.sub(" ", (inner[1] if inner else text).replace("{,}", ","))
    for _ in range(4):
        simpler = _FRACTION.sub(_as_fraction, _COMMAND.sub(r"\1", text))
        if simpler == text:
            break
        text = simpler
    for command, sign in _SIGNS.items():
        text = re.sub(rf"{re.escape(command)}(?![a-zA-Z])", sign, text)
    return _ESCAPED.sub("", _MATHS.sub(" ", text)).strip()


def _as_fraction(match: "re.Match[str]") -> str:
    above, below = (match[1], match[2]) if match[1] else (match[3], match[4])
    mixed = match.start() > 0 and match.string[match.start() - 1].isdigit()
    return f"{' ' if mixed else ''}{above}/{below}"
