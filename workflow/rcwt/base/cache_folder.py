"""Where the response cache is: a module of its own, so that who needs the place alone depends on no reading code."""

import os
from pathlib import Path

#: Moves the cache, for instance to a disk that several checkouts share.
CACHE_VARIABLE = "RCWT_CACHE"
DEFAULT_FOLDER = Path(".cache/responses")


def cache_folder() -> Path:
    """The folder of the response cache."""
    return Path(os.environ.get(CACHE_VARIABLE) or DEFAULT_FOLDER)
