"""What every script of the pipeline shares: an expected error is one message, not a traceback."""

import functools
import sys
from collections.abc import Callable

from rcwt.errors import RcwtError


def exit_on_error(main: Callable[[], None]) -> Callable[[], None]:
    """Decorate a script's `main`: an RcwtError is printed on stderr and ends the script with status 1."""

    @functools.wraps(main)
    def guarded() -> None:
        try:
            main()
        except RcwtError as error:
            sys.exit(f"error: {error}")

    return guarded
