"""The folder of the paper's published calls."""

from pathlib import Path


def csv_files(folder: Path) -> list[tuple[str, Path]]:
    """The CSV files below a folder with their relative names, in order; hidden ones aside."""
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if path.suffix.lower() == ".csv" and path.is_file() and not hidden:
            found.append((name.as_posix(), path))
    return sorted(found)
