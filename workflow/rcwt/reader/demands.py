"""What a user message asks for, read from its form alone: demands to answer, fields to fill, or reasoning.

The extractive reader can quote. It cannot add, judge or trace, so a question that needs this is told apart
here, by its form, and never answered.
"""

import re
from dataclasses import dataclass

from rcwt.base.number_words import alternatives

_NUMBERED = re.compile(r"^\s*(?:\*\*)?(?:[Qq](?:uestion)?\s*)?[(#]?(\d{1,3})[.):](?:\*\*)?\s+(?=\S)")
_INLINE_NUMBER = re.compile(r"(?:^|\s)\((\d{1,2})\)\s+")
_BULLET = re.compile(r"^\s*[-*+•]\s+(?=\S)")
_WRAPPED = re.compile(r"(?<!\n)\n(?!\n)")
# A sentence; a question where it ends in the sign of one.
_SENTENCE = re.compile(r"[^.?!\n]*+(?:[.!](?=\S)[^.?!\n]*+)*+(\?)?")

_ANSWER_LINE = re.compile(r"\bANSWER\s+(?:<?[nN#]>?|\{n\}|\[n\]|(\d{1,3}))\s*:")
_ITEM = re.compile(r"^[\s#*\[]*(?:q(?:uestion)?|item|problem)\s*+[.#]?\s*+(\d{1,3})\b", re.IGNORECASE)
_FIELD_LINE = re.compile(
    r"^\s*+(?:[-*+•]|\d+[.)])?\s*+\{?\s*+[\"`]([A-Za-z_]\w*)[\"`]\s*(?:\(([^)]*)\))?\s*[:=–—-]*\s*(.*)$"
)
_FIELD_PAIR = re.compile(r"\"([A-Za-z_]\w*)\"\s*:\s*(?:\"([^\"]*)\"|<([^>]*)>|([^,}\n]*))")
_FIELD_NAME = re.compile(r"[\"`]([A-Za-z_]\w*)[\"`]|\b([a-z]+\d*(?:_[a-z0-9]+)+)\b")

_CODE = re.compile(
    r"^[^\S\n]*+(?:def \w+\(|class \w+|for \w+ in .*:$|while .*:$|return\b|[a-z_]\w* = \S)", re.MULTILINE
)
_YES_NO_FORMAT = re.compile(
    r"\byes\b\W{0,3}(?:or|and|/|\|)?\W{0,3}\bno\b|\btrue\b\W{0,3}(?:or|/|\|)\W{0,3}false\b", re.IGNORECASE
)
_AUXILIARY = re.compile(
    r"^(?:(?:given|if|when|for|after|before|according)\b[^?]*,\s+)?(?:is|are|was|were|does|do|did|has|have|had|will|would|should|must|may|can|could)(?:n't)?\b"
    r"(?!\s+(?:you|we)\b)",
    re.IGNORECASE,
)
_FIRST_OPTION = re.compile(r"(?:^|\s)\(?A[.):]\s+\S")
_SECOND_OPTION = re.compile(r"\s\(?B[.):]\s+\S")
_CALCULATION = re.compile(r"\d\s*(?:[+*/×÷^=]|\s[-–−]\s)\s*\d")
_AMOUNT = re.compile(
    r"\bhow (?:many|much|far|long|fast|old|tall|often)\b"
    r"|\b(?:total|sum|altogether|average|mean|remainder|difference|percent|percentage|profit)\b",
    re.IGNORECASE,
)
_GIVEN_NUMBER = re.compile(
    rf"\d+(?:[.,]\d+)*|\b(?:{alternatives(2)}|half|twice|dozen)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Demand:
    """One thing asked: the label to answer it under, its text, and whether quoting cannot answer it."""

    label: str
    text: str
    needs_reasoning: bool


def demands(message: str) -> list[Demand]:
    """Numbered items of `message`, else its bullets, else its questions, else the whole of it."""
    judged = asks_judgement(message)
    items = _numbered(message) or _inline(message)
    if not items:
        bullets = _items(message, _BULLET)
        items = [(str(number), text) for number, (_, text) in enumerate(bullets, 1)]
    if len(items) > 1:
        return [Demand(label, text, judged or needs_reasoning(text)) for label, text in items]
    flat = _WRAPPED.sub(" ", message)
    questions = _questions(flat) or [message.strip()]
    # Without a list the numbers of a word problem stand in the sentences before its question.
    hard = judged or needs_reasoning(message)
    return [Demand(str(number), text, hard) for number, text in enumerate(questions, 1) if text]


def answer_lines(message: str, material: str) -> list[str] | None:
    """Numbers of the ``ANSWER n:`` lines that `message` wants, or None when it wants another form.

    Where the message names no number, the questions stand in the material: as many as are visible there.
    """
    wanted = [match[1] for match in _ANSWER_LINE.finditer(message)]
    if not wanted:
        return None
    both = f"{material}\n{message}"
    named = {int(number) for number in wanted if number}
    asked = {int(match[1]) for line in both.splitlines() if (match := _ITEM.match(line))}
    asked = asked or {int(match[1]) for line in both.splitlines() if (match := _NUMBERED.match(line))}
    return [str(number) for number in sorted(asked or named)]


def json_fields(message: str) -> dict[str, str]:
    """Field names and descriptions of the JSON object that `message` wants; empty when it wants none."""
    if "json" not in message.lower():
        return {}
    fields: dict[str, list[str]] = {}
    current = None
    for line in message.splitlines():
        pairs = _FIELD_PAIR.findall(line)
        if len(pairs) > 1 or (pairs and line.strip().endswith("}")):
            fields |= {name: ["".join(rest)] for name, *rest in pairs}
        elif match := _FIELD_LINE.match(line):
            current = match[1]
            fields[current] = [" ".join(part.strip('", ') for part in (match[2], match[3]) if part)]
        elif current and line.strip(" {}[]`"):
            fields[current].append(line.strip())
        else:
            current = None
    names = {quoted or bare: "" for quoted, bare in _FIELD_NAME.findall(message)}
    return names if len(names) > 1 >= len(fields) else {name: " ".join(parts) for name, parts in fields.items()}


def asks_judgement(message: str) -> bool:
    """Whether the whole message wants yes or no, or is about a piece of code."""
    return bool(_YES_NO_FORMAT.search(message)) or len(_CODE.findall(message)) > 1


def needs_reasoning(text: str) -> bool:
    """Whether `text` wants a calculation, a choice among options, or a yes or no."""
    first = _FIRST_OPTION.search(text)
    if (first and _SECOND_OPTION.search(text, first.end())) or _CALCULATION.search(text) or _YES_NO_FORMAT.search(text):
        return True
    if _AMOUNT.search(text) and len(_GIVEN_NUMBER.findall(text)) > 1:
        return True
    asked = _questions(text)
    rest = _SENTENCE.sub(lambda match: "" if match[1] else match[0], text).strip()
    return bool(asked) and not rest and all(_AUXILIARY.match(question) for question in asked)


def _questions(text: str) -> list[str]:
    return [match[0].strip() for match in _SENTENCE.finditer(text) if match[1]]


def _numbered(message: str) -> list[tuple[str, str]]:
    found = _items(message, _NUMBERED)
    return found if len({label for label, _ in found}) == len(found) else []


def _items(message: str, marker: re.Pattern[str]) -> list[tuple[str, str]]:
    """List items with what continues them; a blank line or another block ends an item."""
    found: list[tuple[str, list[str]]] = []
    open_item = False
    for line in message.splitlines():
        if match := marker.match(line):
            label = match[1] if marker.groups else ""
            found.append((label, [line[match.end() :].strip()]))
            open_item = True
        elif not line.strip() or line.startswith("#"):
            open_item = False
        elif open_item:
            found[-1][1].append(_BULLET.sub("", line).strip())
    return [(label, " ".join(parts)) for label, parts in found]


def _inline(message: str) -> list[tuple[str, str]]:
    parts = _INLINE_NUMBER.split(message)
    return list(zip(parts[1::2], (text.strip() for text in parts[2::2]), strict=True))
