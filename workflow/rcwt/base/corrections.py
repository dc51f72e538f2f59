"""Parts of a reply that correct earlier ones: `Correction:`, `Wait`, `Final answers:` replace what they repeat.

Only the beginning of a line announces such a part. A later line without such a word contradicts an earlier one.
"""

import re

from rcwt.base.phrases import one_of

#: Words that say that what stands before them is not meant any more.
TAKES_BACK = one_of(r"""
    no,? wait, wait,? no, wait, actually,? no, no,? actually, actually, hmm+, corrections?, corrected, sorry, apologies
    scratch that, strike that, i mean, i meant, make that, or rather, rather, on second thou?ghts?, on reflection
    my mistake, i misread, oops, let me correct(?: that| this)?
""")
_LEAD = r"(?:(?:oh|hmm+|ok|okay|so|well|oops|no|but|and|now)\b[,.! …-]{1,4}){0,2}"
_ANNOUNCING = one_of(r"""
    correct(?:ion|ions|ed|ing), wait, final(?:ly|ised|ized)?, actually, sorry, apologies, revis(?:ed|ion), updated?
    amended, re-?check\w*, my mistake, on (?:second thou?ghts?|reflection), i (?:made (?:a|an)|misread)
    (?:let me|i(?:'ll| will| need to| have to| should)) (?:re|correct|double|check|fix|revise|redo|change)\w*
    (?:after|upon|on) (?:a )?(?:re|double|second|closer)\w*, (?:scratch|strike|ignore|disregard) (?:that|the above)
    here (?:are|is) (?:the|my) (?:final|corrected|correct|revised)
""")
_ANNOUNCES = re.compile(rf"[^\w\n]{{0,12}}{_LEAD}{_ANNOUNCING}\b", re.IGNORECASE)
_LABEL_BEHIND = re.compile(r"[^\n]{0,60}?(?=\banswer\s*#?\s*\d)", re.IGNORECASE)


def parts(text: str) -> list[str]:
    """The text in parts, each but the first beginning with a line that announces a correction or the final answers."""
    found: list[list[str]] = [[]]
    for line in re.split(r"\r\n|[\n\r]", text):
        if _ANNOUNCES.match(line):
            found.append([])
        found[-1].append(line)
    return ["\n".join(lines) for lines in found if lines]


def announced(line: str) -> int:
    """Where a line goes on behind the words that announce a correction: `Correction: ANSWER 1: 48`; 0 without such."""
    found = _ANNOUNCES.match(line)
    behind = _LABEL_BEHIND.match(line, found.end()) if found else None
    return behind.end() if behind else 0
