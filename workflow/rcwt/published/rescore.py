"""Rescoring files: the main task's responses at W = 4096 under a second judge.

Their rows name neither model nor judge. The judge's id is in the file's name,
`rescore_comparison_<judge>.csv`; the target is in the folder's, `<target>_judged_by_<judge>`, as a short
alias (`gpt`, `haiku`, `gemini25`) that has to be matched to a model id. Models with main rows at W = 4096 come
first, since that is what was rescored: so `gemini` is Gemini 2.0, although 2.5 was run at another window. In a part
of the artifact without those rows, the three models that the paper rescored stand beside the ids seen elsewhere, so
that Gemini 2.0's responses never become those of 2.5, a judge. One id must fit, or the configuration key
`rescore_targets` says which; the report on the files tells which it was.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from pathlib import PurePosixPath

from rcwt.base.errors import PublishedDataError
from rcwt.published.files import CsvFile, CsvRow, refuse
from rcwt.published.kinds import FLOOR_ITEMS, MAIN_ITEMS, MAIN_TASK, Budget, Call, ItemScore

#: The one window the paper rescored, and its instruction in tokens.
WINDOW = 4096
INSTRUCTION = 337
#: The models whose responses the paper rescored.
PAPER_TARGETS = frozenset({"gemini-2.0-flash", "claude-haiku-4-5-20251001", "gpt-4.1-mini"})
_FOLDER = re.compile(r"(?P<target>.+)_judged_by_(?P<judge>.+)")
_FILE = re.compile(r"rescore_comparison_(?P<judge>.+)", re.IGNORECASE)


@dataclass(frozen=True)
class Naming:
    """What a rescoring file's path says: folder, target alias, judge alias, judge id; None where silent."""

    file: str
    folder: str
    target: str | None
    judge_alias: str | None
    judge: str | None


@dataclass(frozen=True)
class Pair:
    """Whose responses a rescoring file scores, and who judged them; both model ids."""

    target: str
    judge: str


@dataclass(frozen=True)
class Rescored:
    """One row of a rescoring file: a call, its original scores and the second judge's."""

    q: Decimal
    order: str
    trial: int
    original: tuple[ItemScore, ...]
    new: tuple[ItemScore, ...]
    file: str
    line: int


def naming_of(file: CsvFile) -> Naming:
    """Read target and judge from the names of a file and of the folder it is in."""
    folder, stem = _FOLDER.fullmatch(file.folder), _FILE.fullmatch(PurePosixPath(file.name).stem)
    return Naming(
        file=file.name,
        folder=file.folder,
        target=folder["target"] if folder else None,
        judge_alias=folder["judge"] if folder else None,
        judge=stem["judge"] if stem else None,
    )


def resolve_pair(naming: Naming, seen: Sequence[frozenset[str]], targets: Mapping[str, str]) -> Pair:
    """Find the model ids behind a rescoring file's names.

    Args:
        naming: what the path says.
        seen: model ids of the artifact and the paper, the likelier set first.
        targets: the configuration key `rescore_targets`, folder name or alias to model id. It goes first.

    Raises:
        PublishedDataError: no id or more than one fits, or folder and file name two judges.
    """
    alias = naming.judge_alias
    if naming.judge is None:
        judge = _resolve(naming, "judge", alias, (alias or "",), seen, targets)
    else:
        judge = naming.judge
        _check_judge(naming, judge, targets)
    keys = (naming.folder, naming.target or "")
    return Pair(_resolve(naming, "target", naming.target, keys, seen, targets), judge)


def _check_judge(naming: Naming, judge: str, targets: Mapping[str, str]) -> None:
    alias = naming.judge_alias
    if alias is None or _fits(alias, judge) or targets.get(alias) == judge:
        return
    remedy = (
        "Nothing was written. Rename the one that is wrong, or say in the config key rescore_targets that "
        f"they are the same: {{{alias}: {judge}}}."
    )
    found = f"judge '{judge}' in the file's name and '{alias}' in the folder's"
    raise refuse(naming.file, None, None, found, "one and the same judge", remedy)


def read_rescored(row: CsvRow) -> Rescored:
    """Read a row; the effective items are the main task's."""
    original, new = (
        tuple(ItemScore(item, item not in FLOOR_ITEMS, row.bit(f"{side}_{item}")) for item in MAIN_ITEMS)
        for side in ("orig", "new")
    )
    q, order, trial = row.share("proportion"), row.order(), row.count("trial_index")
    return Rescored(q, order, trial, original, new, row.file, row.line)


def as_call(row: Rescored, target: str) -> Call:
    """Make the call that a rescoring row stands for: c = floor(q·(W − u)) by decimals, usage unknown.

    Its status is `ok` because nothing says more: output tokens and finish reason are not in these files.
    """
    rest = WINDOW - INSTRUCTION
    c = int((row.q * rest).to_integral_value(rounding=ROUND_FLOOR))
    return Call(
        task=MAIN_TASK,
        budget=Budget(WINDOW, row.q, c, INSTRUCTION, rest - c),
        model=target,
        order=row.order,
        pack=None,
        trial=row.trial,
        prompt_tokens=None,
        completion_tokens=None,
        cost_usd=None,
        latency_s=None,
        scores=row.original,
        file=row.file,
        line=row.line,
    )


def check_original(row: Rescored, call: Call) -> None:
    """Refuse a rescoring row whose `orig_*` are not the scores the same call has elsewhere."""
    for here, there in zip(row.original, call.scores, strict=True):
        if here.score != there.score:
            found = f"{here.score}, while the same call has {there.score} at {call.place}"
            raise refuse(row.file, row.line, f"orig_{here.item}", found, "the same original score in both files")


def _resolve(
    naming: Naming,
    role: str,
    alias: str | None,
    keys: tuple[str, ...],
    seen: Sequence[frozenset[str]],
    targets: Mapping[str, str],
) -> str:
    for key in keys:
        if key and key in targets:
            return targets[key]
    say = "Nothing was written. Name the model in the config key rescore_targets, by folder name or alias: "
    if alias is None:
        found = f"a folder named '{naming.folder}', which tells no {role}"
        remedy = f"{say}{{{naming.folder}: <model id>}}."
        raise refuse(naming.file, None, None, found, "a folder <target>_judged_by_<judge>", remedy)
    fitting = next((fits for ids in seen if (fits := _best_fits(alias, ids))), set())
    if len(fitting) == 1:
        return fitting.pop()
    everything = ", ".join(sorted(frozenset[str]().union(*seen))) or "none"
    which = f"fits {', '.join(sorted(fitting))}" if fitting else f"fits no model id known here ({everything})"
    remedy = f"{say}{{{alias}: <model id>}}."
    raise refuse(naming.file, None, None, f"the {role} '{alias}', which {which}", "exactly one model id", remedy)


def _best_fits(alias: str, ids: frozenset[str]) -> set[str]:
    """Give the ids that hold the alias in one piece; where none does, those that hold its pieces in order."""
    whole = {model for model in ids if _letters(alias) in _letters(model)}
    return whole or {model for model in ids if _fits(alias, model)}


def _fits(alias: str, model: str) -> bool:
    """Tell whether the alias's words and digits stand in the id in this order, as `gemini2flash` does."""
    text, at = _letters(model), 0
    for piece in re.findall(r"[a-z]+|\d", _letters(alias)):
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def same_claim(first: Naming, second: Naming) -> None:
    """Refuse two byte-identical rescoring files that name different targets or judges."""
    if None in (first.target, second.target):
        return
    if (first.target, first.judge_alias, first.judge) != (second.target, second.judge_alias, second.judge):
        raise PublishedDataError(
            f"{second.file}: found the same bytes as {first.file} under another target or judge; accepted: "
            "one name for one file. Nothing was written. Take the wrong copy out of the folder."
        )
