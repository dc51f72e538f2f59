"""What every script of the pipeline shares: where it finds the package, and errors as messages."""

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

from rcwt.base.errors import FileError, RcwtError


def prepare_scripts(package_folder: str) -> None:
    """Let the scripts that this process starts find the package of this checkout, and its own interpreter."""
    for variable, folder in (("PYTHONPATH", package_folder), ("PATH", str(Path(sys.executable).parent))):
        os.environ[variable] = os.pathsep.join(filter(None, [folder, os.environ.get(variable)]))


def exit_on_error(main: Callable[[], None]) -> Callable[[], None]:
    """Decorate a script's `main`: an RcwtError, or that of a disk, is printed on stderr and ends it with status 1."""

    @functools.wraps(main)
    def guarded() -> None:
        try:
            main()
        except RcwtError as error:
            sys.exit(f"error: {error}")
        except OSError as error:
            sys.exit(f"error: {FileError(error)}")

    return guarded
