"""Files written whole, and what killed processes left of such."""

import contextlib
import itertools
import json
import os
import re
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_numbers = itertools.count()
_HALF_WRITTEN = re.compile(
    r"\.(?P<pid>[0-9]+)-[0-9]+@(?P<host>.+)\.part|\..+\.(json|yaml|log|csv|jsonl|md|tex|txt)\.(?P<old>[0-9]+)"
)
#: A file is written in less, in seconds.
_WRITTEN_S, _DAY_S = 60.0, 86400.0


def write_together(writers: Mapping[Path, Callable[[Path], object]]) -> None:
    """Write files whole, and all or none of them: beside their places first, then renamed.

    What is no regular file, such as `/dev/stdout`, is written to and not replaced.
    """
    own = f"@{socket.gethostname()}.part"
    places = {path: path.with_name(f".{os.getpid()}-{next(_numbers)}{own}") for path in writers}
    for path in writers:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            places[path] = path
    beside = [place for path, place in places.items() if place != path]
    try:
        for path, write in writers.items():
            write(places[path])
        for path, place in places.items():
            if place != path:
                place.replace(path)
    except BaseException:
        for place in beside:
            place.unlink(missing_ok=True)
        raise


def write_text(text: str, path: Path) -> None:
    """Write a file whole."""
    write_together({path: lambda place: place.write_text(text, encoding="utf-8")})


def clear_half_written(folder: Path) -> None:
    """Remove what killed processes have left of `write_together` in a folder and below it.

    Another host's process may live: what it left is removed after a day.
    """
    for place, _, names in os.walk(folder):
        for name in names:
            made = _HALF_WRITTEN.fullmatch(name)
            if made is None:
                continue
            path = Path(place) / name
            with contextlib.suppress(OSError):
                age = time.time() - path.stat().st_mtime
                # Of versions that named no host, a name alone may be a user's own.
                here = made["host"] == socket.gethostname() if made["host"] else age > _WRITTEN_S
                if age > _DAY_S or (here and not _lives(int(made["pid"] or made["old"]))):
                    path.unlink()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def write_json(value: Any, path: Path) -> None:
    """Write a value as indented JSON."""
    write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", path)
