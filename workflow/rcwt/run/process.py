"""The process in which Snakemake runs: its memory, and what the scripts find that it starts."""

import atexit
import gc
import os
import sys
from pathlib import Path


def prepare(package_folder: str) -> None:
    """Let the scripts that this process starts find the package of this checkout, and its own interpreter.

    What Snakemake has loaded lives as long as the process: searches for garbage pass it over from here on. So does all
    else when the process ends.
    """
    gc.freeze()
    atexit.register(gc.freeze)
    for variable, folder in (("PYTHONPATH", package_folder), ("PATH", str(Path(sys.executable).parent))):
        os.environ[variable] = os.pathsep.join(filter(None, [folder, os.environ.get(variable)]))
