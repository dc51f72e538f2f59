"""Files are written whole or not at all, several together, and what is no file is never replaced."""

import os
import threading
from pathlib import Path

import pytest

from rcwt.base.files import write_text, write_together


def test_all_or_none_appear_and_nothing_is_left_beside_them(tmp_path: Path) -> None:
    one, other = tmp_path / "a/one.csv", tmp_path / "b/other.csv"
    write_together({one: lambda place: place.write_text("1"), other: lambda place: place.write_text("2")})

    def fail(place: Path) -> None:
        place.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_together({one: lambda place: place.write_text("new"), other: fail})
    assert (one.read_text(), other.read_text()) == ("1", "2")
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["one.csv", "other.csv"]


def test_a_text_keeps_its_line_ends(tmp_path: Path) -> None:
    write_text("a\r\nb\rc\n", tmp_path / "text.csv")
    assert (tmp_path / "text.csv").read_bytes() == b"a\r\nb\rc\n"


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """With `--out /dev/null` root would lose the device; a link such as `/dev/stdout` leads to what is meant."""
    pipe, said = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reading = threading.Thread(target=lambda: said.append(pipe.read_text()))
    reading.start()
    write_text("a result", pipe)
    reading.join(timeout=60)
    assert said == ["a result"]
    assert pipe.is_fifo()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_text("a result", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "a result"
