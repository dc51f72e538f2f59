"""The scripts that draw figures, as modules."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def load(root: Path, name: str) -> ModuleType:
    """Import `workflow/scripts/<name>.py`."""
    spec = importlib.util.spec_from_file_location(name, root / f"workflow/scripts/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
