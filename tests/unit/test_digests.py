"""Fingerprints of values and of code."""

from pathlib import Path

import pytest

from rcwt.base import digests
from rcwt.base.digests import canonical_json, code_digest, digest


def test_equal_values_have_one_spelling() -> None:
    assert canonical_json({"b": 1, "a": [0.3, None, "é"]}) == '{"a":[0.3,null,"é"],"b":1}'
    # sha256 of the two bytes {}
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_what_json_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json(float("nan"))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package in which `top` reaches three modules, each by another form of import."""
    for folder in ("sub", "base"):
        (tmp_path / folder).mkdir()
    sources = {
        "top.py": "from rcwt import named\nfrom rcwt.direct import x\nfrom rcwt.sub.inner import y\n",
        "named.py": "import rcwt.plain, rcwt.base.errors\n",
        "direct.py": "import rcwt.sub.errors\n",
        "plain.py": "",
        "sub/__init__.py": "",
        "sub/inner.py": "y = 1\n",
        "base/errors.py": "",
        "sub/errors.py": "",
        "other.py": "",
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(digests, "PACKAGE", tmp_path)
    digests._imports.cache_clear()
    code_digest.cache_clear()
    return tmp_path


@pytest.mark.parametrize(
    ("edited", "changes"),
    [
        ("top.py", True),
        ("named.py", True),
        ("direct.py", True),
        ("plain.py", True),
        ("sub/inner.py", True),
        ("base/errors.py", False),  # neutral
        ("sub/errors.py", True),  # only its last name is that of a neutral one
        ("other.py", False),
    ],
)
def test_a_stage_depends_on_what_its_module_imports(package: Path, edited: str, changes: bool) -> None:
    before = code_digest("top")
    (package / edited).write_text("# edited\n" + (package / edited).read_text())
    digests._imports.cache_clear()
    code_digest.cache_clear()
    assert (code_digest("top") != before) is changes
