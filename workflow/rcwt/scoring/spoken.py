"""What of a reply is said to its reader: without the thoughts before it and without what follows its end.

A model that thinks aloud tries answers and drops them, so a block of thoughts is no part of the reply. One that is
never closed leaves nothing: the output ended before the answer. A closing mark alone means that the prompt held the
opening one.
"""

import re

_THOUGHTS = "think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis"
_MARK = re.compile(
    rf"(?P<open><(?:{_THOUGHTS})>|\[THINK\]|◁think▷|<\|channel\|>\s?(?:analysis|commentary)\b)"
    rf"|(?P<close></(?:{_THOUGHTS})>|\[/THINK\]|◁/think▷|<\|channel\|>\s?final\b(?:<\|message\|>)?)"
    r"|(?P<part><\|end\|>)",
    re.IGNORECASE,
)
_END = re.compile(r"<\|(?:im_end|eot_id|endoftext|end_of_text|return)\|>|</s>|<end_of_turn>", re.IGNORECASE)


def spoken(reply: str) -> str:
    """`reply` without blocks of thoughts, up to the mark that ends a model's turn."""
    kept: list[str] = []
    at, inside = 0, False
    for mark in _MARK.finditer(reply):
        if mark["part"] and not inside:
            continue
        if mark["close"] and not inside:
            kept.clear()
        elif not inside:
            kept.append(reply[at : mark.start()])
        at, inside = mark.end(), bool(mark["open"])
    text = "\n".join(kept) if inside else "\n".join([*kept, reply[at:]])
    return next((turn for turn in _END.split(text) if turn.strip()), "")
