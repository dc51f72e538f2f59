"""The text of a reply without what its writer did not mean to say: thoughts, tags, LaTeX, signs that are not seen.

What is left says the same: no value changes, and lines stay lines.
"""

import html
import re
import unicodedata

import regex

_INVISIBLE = regex.compile(r"\p{Default_Ignorable_Code_Point}+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]\w{1,30});", re.IGNORECASE)
_THOUGHT = re.compile(r"<(?P<end>/?)(?:think|thinking|thought|thoughts|reasoning|scratchpad)>", re.IGNORECASE)
_SPECIAL = re.compile(
    r"<[|｜](?:im_start|start_header_id|start)[|｜]>(?:assistant|user|system)?"
    r"|<[|｜][^<>|｜\s]{1,40}[|｜]>"
    r"|</?(?:end_of_turn|start_of_turn|eos|bos|pad|eot|eod|end|endoftext|answer|final|final_answer|ans|result|br)\s?/?>"
    r"|\[/?(?:INST|EOS|END|BOS|PAD)\]",
    re.IGNORECASE,
)
_TAGGED = re.compile(
    r"<(?P<name>b|strong|i|em|u|code|mark|span|p|div|font|big|small|ins|s|del|strike|td|li|kbd|tt)(?:\s[^<>\n]{0,80})?>"
    r"(?P<inside>[^<>\n]*+)</(?P=name)>(?P<more>[ \t]*+[^\s<])?",
    re.IGNORECASE,
)
_BOUND = re.compile(r"</?s>")
#: Tags and commands inside one another are read from the inside out, so many at most.
_DEPTH = 4

_SIGNS = {
    **dict.fromkeys(["times", "cdot"], "×"),
    "div": "÷",
    **dict.fromkeys(["approx", "simeq", "cong", "thickapprox"], "≈"),
    "sim": "~",
    **dict.fromkeys(["ge", "geq", "geqslant"], "≥"),
    **dict.fromkeys(["le", "leq", "leqslant"], "≤"),
    **dict.fromkeys(["ne", "neq"], "≠"),
    **dict.fromkeys(["gt"], ">"),
    **dict.fromkeys(["lt"], "<"),
    "pm": "±",
    **dict.fromkeys(["to", "rightarrow", "Rightarrow", "implies"], "→"),
    **dict.fromkeys(["degree", "circ"], "°"),
    **dict.fromkeys(["pounds", "textsterling"], "£"),
    **dict.fromkeys(["euro", "texteuro"], "€"),
    "textdollar": "€",
    "therefore": "",
    **dict.fromkeys(["quad", "qquad", "space"], " "),
    **dict.fromkeys(["left", "right", "displaystyle", "textstyle", "Large", "large", "huge", "Huge", "bf", "rm"], ""),
}
_SIGN = re.compile(r"(?:\^\{?)?\\(?P<name>" + "|".join(sorted(_SIGNS, key=len, reverse=True)) + r")(?![A-Za-z])\}?")
_FRACTION = re.compile(r"\\[dtc]?frac\s?(?:\{\s?([^{}\n]{1,30})\}\s?\{\s?([^{}\n]{1,30})\}|(\d)\s?(\d))")
_COMMAND = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|texttt|textnormal|mathrm|mathbf|mathit|mathsf|mathtt|boldsymbol|bm|emph"
    r"|underline|mbox|hbox|fbox|boxed|operatorname|bold|textcolor\{\w{1,20}\}|color\{\w{1,20}\})\s?\{([^{}\n]*+)\}"
)
_ESCAPED = re.compile(r"\\(?:([%#&_*`~|+.!-])|[()\[\]])")
_LATEX: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<!\\)\\\\++(?=[A-Za-z%$])"), r"\\"),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\!"), ""),
    (re.compile(r"\\[,:]"), "\u2009"),
    (re.compile(r"\\[; ]"), " "),
    (re.compile(r"~(?=\\)"), " "),
    (re.compile(r"\^\{([23])\}"), r"^\1"),
)
#: Full-width forms, letters of mathematics and letters in circles. A fraction or a power is none of them: its plain
#: form is another number.
_WIDE = re.compile("[\uff01-\uff5e\u3000\uffe0-\uffe6\u249c-\u24e9\U0001d400-\U0001d7ff]+")


def surface(reply: str) -> str:
    """A reply's own text: without thoughts, invisible signs, tags and LaTeX commands."""
    text = spoken(_INVISIBLE.sub("", reply))
    text = _ENTITY.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text
    text = _untagged(text) if "<" in text or "[" in text else text
    return unlatexed(_INVISIBLE.sub("", text))


def spoken(reply: str) -> str:
    """A reply without its thoughts: a block that never ends has no end, and one that never begins began before."""
    kept: list[str] = []
    since, inside = 0, False
    for tag in _THOUGHT.finditer(reply):
        if tag["end"]:
            kept = kept if inside else []
            inside, since = False, tag.end()
        elif not inside:
            kept.append(reply[since : tag.start()])
            inside = True
    return "".join([*kept, "" if inside else reply[since:]])


def unlatexed(text: str) -> str:
    """A text with the signs and words that its LaTeX commands stand for; `\\$` stays, since `$` opens a formula."""
    if "\\" not in text and "{," not in text:
        return text
    for pattern, plain in _LATEX:
        text = pattern.sub(plain, text)
    text = _SIGN.sub(lambda match: _SIGNS[match["name"]], text)
    for _ in range(_DEPTH):
        text, found = _COMMAND.subn(r"\1", text)
        if not found:
            break
    text = _FRACTION.sub(lambda match: f" {match[1] or match[3]}/{match[2] or match[4]}", text)
    return _ESCAPED.sub(lambda match: match[1] or "", text)


def narrow(text: str) -> str:
    """A text with plain letters, digits and brackets for wide ones."""
    return text if text.isascii() else _WIDE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def _untagged(text: str) -> str:
    text = _SPECIAL.sub(" ", text)
    for _ in range(_DEPTH):
        text, found = _TAGGED.subn(_inside, text)
        if not found:
            break
    return _BOUND.sub(" ", text)


def _inside(match: re.Match[str]) -> str:
    """What a tag holds; what is struck out stays marked so. `<s>` opens a text, and strikes out where more follows."""
    name, more = match["name"].lower(), match["more"] or ""
    struck = name in ("del", "strike") or (name == "s" and more)
    return (f"~~{match['inside']}~~" if struck else match["inside"]) + more
