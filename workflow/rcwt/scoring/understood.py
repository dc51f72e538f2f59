"""The numbered demands of an instruction: under a demand's number its subject is understood."""

import re

_NUMBERED = re.compile(r"^[ \t]*(?:\*\*)?(\d{1,2})[.)](?:\*\*)?[ \t]+(?=\S)")


def demands_of(instruction: str) -> tuple[str, ...]:
    """The texts of the demands that an instruction numbers from 1 on; () where it numbers none."""
    found: list[str] = []
    open_item = False
    for line in instruction.split("\n"):
        mark = _NUMBERED.match(line)
        if mark and int(mark[1]) == len(found) + 1:
            found.append(line[mark.end() :].strip())
            open_item = True
        elif open_item and line.strip() and not mark:
            found[-1] += f" {line.strip()}"
        else:
            open_item = False
    return tuple(found)
