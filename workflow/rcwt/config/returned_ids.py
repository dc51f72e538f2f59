"""Whether the model that answered is the one that was asked for, by the ids alone."""

import re
from collections import Counter
from functools import lru_cache

from rcwt.config.schema import EMBEDDED

# What does not tell one model from another. A date or a build: 2025-04-14, 20241022, 08-2024, 05-20, 0613, 2411, 001.
_DATES = r"(?:19|20)\d\d[-_.]?\d\d[-_.]?\d\d|\d\d-20\d\d|20\d\d-\d\d|\d\d-\d\d|\d{6}|\d{4}|00\d|v\d+:\d+"
# How its weights are stored: q4_k_m, iq3_xs, fp8, w4a16, mxfp4, 4bit, awq, gguf.
_STORED = r"i?q\d(?:_[a-z0-9]+)*|[bn]?[fb]p?\d+|nf4|mxfp\d|u?int\d+|w\d+a\d+|\d+bits?|awq|gptq|gguf|mlx|bnb"
# What OpenRouter calls its offers of one model.
_OFFERS = "free|nitro|floor|exacto|online|extended"
_NOISE = re.compile(rf"(?<![a-z0-9])(?:{_DATES}|{_STORED}|{_OFFERS}|latest)(?![a-z0-9])")
_DATE = re.compile(rf"(?<![a-z0-9])(?:{_DATES})(?![a-z0-9])")
_BITS = r"i?q\d(?:_[a-z0-9]+)*|[bn]?fp?\d+|nf4|mxfp\d|u?int\d+|w\d+a\d+"
_QUANTIZATION = re.compile(rf"(?<![a-z0-9])(?:{_BITS})(?![a-z0-9])")
# Fireworks writes a point between digits as a p: v3p1.
_POINT = re.compile(r"(?<=\d)p(?=\d)")
_WORD = re.compile(r"\d+(?:x\d+)?[a-z]*|[a-z]+")
# Words that make another model of the same family.
_VARIANTS = frozenset(
    {
        *("nano", "micro", "mini", "tiny", "small", "medium", "large", "xl", "lite", "light", "air", "heavy"),
        *("flash", "turbo", "fast", "slow", "plus", "pro", "max", "ultra", "high", "low", "highspeed"),
        *("haiku", "sonnet", "opus", "scout", "maverick", "nemo"),
        *("base", "chat", "code", "coder", "codex", "math", "vision", "vl", "omni", "audio", "realtime", "image"),
        *("search", "research", "think", "thinking", "reasoner", "reasoning", "distill", "non"),
        *("embed", "embedding", "rerank", "guard", "moderation", "tts", "transcribe", "ocr"),
    }
)


def another_model(requested: str, answered: str | None) -> bool | None:
    """Whether another model answered than was asked; None where the reply names none, and for the embedded reader.

    `requested` has litellm's provider before it.
    """
    provider, _, asked = requested.partition("/")
    if answered is None or not answered.strip() or provider == EMBEDDED.partition("/")[0]:
        return None
    return not same_model(asked, answered)


@lru_cache(maxsize=1024)
def same_model(asked: str, answered: str) -> bool:
    """Whether `answered`, the id in a reply, is `asked` or a form of it; neither has litellm's provider before it.

    Forms of an id are: another path before its name (`models/…`, `accounts/…/models/…`, `meta-llama/…`, a folder),
    other case and separators, another order of its words (`claude-3.5-haiku`, `claude-haiku-3-5`); a date, a build,
    `latest`, an offer (`:free`) or how the weights are stored (`fp8`, `Q4_K_M`, `.gguf`), more or less but no other;
    and other words more or less, unless such a word names another model: a size (`8b`), a version, or a variant
    (`gpt-4o` and `gpt-4o-mini`). An id without a version may be answered by one with it (`gemini-flash-latest`).
    """
    if asked.strip().lower() == answered.strip().lower():
        return True
    if any(_contradict(stamp, asked, answered) for stamp in (_DATE, _QUANTIZATION)):
        return False
    first, second = _words(asked), _words(answered)
    fewer, more = first - second, second - first
    if (fewer and more) or not first or not second:
        return False
    numbered = any(word.isdigit() for word in first)
    return not any(_tells(word, numbered or bool(fewer)) for word in fewer | more)


def _contradict(stamp: re.Pattern[str], first: str, second: str) -> bool:
    """Whether both ids have such a stamp, and no two of them agree: 2407 and 2024-07-24 do."""
    one, two = ({re.sub(r"[^a-z0-9]", "", found) for found in stamp.findall(_name(text))} for text in (first, second))
    return bool(one and two) and not any(a in b or b in a for a in one for b in two)


def _name(identity: str) -> str:
    return identity.strip().rstrip("/").rpartition("/")[2].lower()


def _words(identity: str) -> Counter[str]:
    words = _WORD.findall(_POINT.sub(".", _NOISE.sub(" ", _name(identity))))
    # Some call a first version .0 and others nothing: claude-sonnet-4-0.
    return Counter(word for word in words if word != "0")


def _tells(word: str, numbered: bool) -> bool:
    """Whether a word more makes another model; a bare number does so beside an id that has numbers."""
    return word in _VARIANTS or (word[0].isdigit() and (numbered or not word.isdigit()))
