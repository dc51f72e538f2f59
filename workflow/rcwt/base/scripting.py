"""What every script of the pipeline shares: errors as messages."""

import functools
import sys
from collections.abc import Callable

from rcwt.base.errors import FileError, RcwtError


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
