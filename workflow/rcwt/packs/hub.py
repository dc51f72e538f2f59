"""One file of a dataset on the Hugging Face hub, at a pinned revision, kept under `.cache/hub`.

The first fetch writes down what came: revision, licence and the sha256 of the file. Every later run uses the kept file,
without network, and refuses one whose bytes have changed. `HF_ENDPOINT` names another hub, as huggingface_hub has it.
"""

import os
import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from rcwt.base.cache_folder import cache_folder
from rcwt.base.files import write_text
from rcwt.packs.items import PackError
from rcwt.packs.sources import SourceFile, file_sha256

#: A dataset's own description; its head is YAML.
CARD = "README.md"


class HubFile(BaseModel):
    """What is wanted of the hub: a dataset repository, a file of it and the full hash of a commit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    repo: str
    file: str
    revision: str

    def __str__(self) -> str:
        return f"{self.repo} at {self.revision[:12]}, file {self.file}"


class _Fetched(HubFile):
    """What a fetch has brought; `licence` is None where the dataset's card names none."""

    path: str  # of the file, inside the folder of kept datasets
    sha256: str
    licence: str | None


def hub_folder() -> Path:
    """Where fetched files are kept: beside the cached responses."""
    return cache_folder().parent / "hub"


def fetch(wanted: HubFile, *, offline: bool, folder: Path | None = None) -> SourceFile:
    """The file, from the kept ones or from the hub.

    Raises PackError where it is not kept and `offline` is set, where the hub does not give it or gives another
    revision, and where a kept file is not the one that was fetched.
    """
    folder = folder or hub_folder()
    note = folder / "fetched" / wanted.repo.replace("/", "--") / wanted.revision / f"{wanted.file}.json"
    if note.is_file():
        return _kept(wanted, folder, note)
    if offline:
        raise PackError(
            f"hub: {wanted}: not fetched yet, and 'offline' is true; accepted: a file under {folder}. Run once with "
            "offline: false, or give the file by 'source: path'"
        )
    path, licence = _download(wanted, folder / "files")
    fetched = _Fetched(
        **wanted.model_dump(), path=path.relative_to(folder).as_posix(), sha256=file_sha256(path), licence=licence
    )
    write_text(fetched.model_dump_json(indent=1) + "\n", note)
    return _source(fetched, folder)


def _kept(wanted: HubFile, folder: Path, note: Path) -> SourceFile:
    try:
        fetched = _Fetched.model_validate_json(note.read_bytes())
    except ValidationError:
        raise PackError(f"{note}: not what a fetch writes down; delete it, and the file is fetched again") from None
    path = folder / fetched.path
    if file_sha256(path) != fetched.sha256:
        found = "changed since it was fetched" if path.exists() else "gone"
        raise PackError(
            f"hub: {wanted}: the kept file {path} is {found}; accepted: sha256 {fetched.sha256[:12]}…. Delete "
            f"{folder}, and it is fetched again"
        )
    return _source(fetched, folder)


def _source(fetched: _Fetched, folder: Path) -> SourceFile:
    return SourceFile(
        "hub", folder / fetched.path, fetched.sha256, fetched.repo, fetched.revision, fetched.licence, fetched.file
    )


def _download(wanted: HubFile, cache: Path) -> tuple[Path, str | None]:
    # Imported here: a second that only a run with such a source should pay. Its address is read when it is imported.
    import httpx
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    endpoint = os.environ.get("HF_ENDPOINT") or None
    try:
        path = Path(
            huggingface_hub.hf_hub_download(
                wanted.repo,
                wanted.file,
                repo_type="dataset",
                revision=wanted.revision,
                cache_dir=cache,
                endpoint=endpoint,
            )
        )
    except (HfHubHTTPError, httpx.HTTPError, OSError, ValueError) as error:
        raise PackError(
            f"hub: {wanted}: cannot be fetched ({_told(error)}). Correct 'repo', 'file' or 'revision'"
        ) from None
    given = path.relative_to(cache).parts[2]  # datasets--owner--name/snapshots/<commit>/<file>
    if given != wanted.revision:
        raise PackError(
            f"hub: {wanted}: the hub gave revision {given}; accepted: the pinned {wanted.revision}. Has the dataset "
            "been changed? Pin the revision that is meant"
        )
    return path, _licence(huggingface_hub.HfApi(endpoint=endpoint), wanted, cache)


def _licence(hub: Any, wanted: HubFile, cache: Path) -> str | None:
    """The licence by the hub's description of the dataset, or else by its card; None where neither names one."""
    import httpx
    from huggingface_hub.errors import HfHubHTTPError

    unreachable = (HfHubHTTPError, httpx.HTTPError, OSError, ValueError)
    try:
        info = hub.dataset_info(wanted.repo, revision=wanted.revision)
    except unreachable:
        try:
            card = hub.hf_hub_download(
                wanted.repo, CARD, repo_type="dataset", revision=wanted.revision, cache_dir=cache
            )
            return _licence_of(Path(card).read_text(encoding="utf-8"))
        except unreachable:
            return None
    if info.sha not in (None, wanted.revision):
        raise PackError(
            f"hub: {wanted}: the hub describes revision {info.sha}; accepted: the pinned {wanted.revision}. Pin the "
            "revision that is meant"
        )
    card = info.card_data.get("license") if info.card_data else None
    tags = [tag.removeprefix("license:") for tag in info.tags or [] if tag.startswith("license:")]
    named = card if isinstance(card, str) else ", ".join(card) if card else ", ".join(tags)
    return named or None


def _licence_of(card: str) -> str | None:
    """The key `license` of the YAML at the head of a dataset's card."""
    head = re.match(r"---\r?\n(.*?)\r?\n---", card, re.DOTALL)
    try:
        content = yaml.safe_load(head[1]) if head else None
    except yaml.YAMLError:
        return None
    named = content.get("license") if isinstance(content, dict) else None
    return ", ".join(map(str, named)) if isinstance(named, list) else str(named) if named else None


def _told(error: Exception) -> str:
    """The first line of an error, without an address that may hold a token."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return f"{type(error).__name__}: {first.split('?')[0]}"[:200]
