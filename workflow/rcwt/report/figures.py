"""What all figures share: print style, safe colours, crowded shares drawn apart, and files that never vary.

Figures are built as objects, without pyplot: nothing is kept between two figures, and no display is needed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.textpath import TextPath
from matplotlib.transforms import ScaledTranslation, Transform

#: Width over two columns of a journal page, inches (178 mm).
WIDTH = 7.0
FORMATS = ("pdf", "png", "svg")
#: Colours that people with any of the common colour-vision deficiencies can tell apart on white: Okabe and Ito's, with
#: brown for their yellow, which is lost on paper. Figures pair each with a marker, for print without colour.
PALETTE = {
    "black": "#000000",
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "brown": "#6B3A1E",
    "orange": "#E69F00",
}
#: Smallest text, points; journals ask for 7 or more in print.
SMALL, NORMAL = 7.0, 8.0
#: Two neighbouring shares closer than this part of the whole range are crowded.
CROWDED = 0.05

_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": SMALL,
    "axes.titlesize": NORMAL,
    "axes.labelsize": NORMAL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "figure.titlesize": NORMAL,
    "figure.labelsize": NORMAL,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "lines.linewidth": 1.1,
    "lines.markeredgewidth": 0.8,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.2,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "text.parse_math": False,  # a name with a dollar sign is a name
    "pdf.fonttype": 42,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "rcwt",
}
_METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "ModDate": None},
    "png": {"Software": None},
    "svg": {"Date": None},
}


@dataclass(frozen=True)
class Series:
    """How one series looks: a colour, and a marker that tells it apart without the colour."""

    colour: str
    marker: str


#: The models that most runs show keep their look, so that two figures can be compared.
KNOWN = {
    "gemini-2.0-flash": Series(PALETTE["blue"], "o"),
    "claude-haiku-4-5-20251001": Series(PALETTE["vermilion"], "s"),
    "gpt-4.1-mini": Series(PALETTE["green"], "^"),
    "reader": Series(PALETTE["black"], "D"),
}
OTHERS = (
    Series(PALETTE["purple"], "v"),
    Series(PALETTE["sky"], "P"),
    Series(PALETTE["brown"], "X"),
    Series(PALETTE["orange"], "h"),
)
SPARE_MARKERS = ("<", ">", "p", "d")


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of the project, whatever the user's own matplotlib settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def save(figure: Figure, prefix: str | Path) -> None:
    """Write `prefix`.pdf, .png and .svg: the same bytes for the same figure, since no date or chance is in them."""
    Path(prefix).parent.mkdir(parents=True, exist_ok=True)
    with style():
        for form in FORMATS:
            figure.savefig(f"{prefix}.{form}", format=form, metadata=_METADATA[form])


def close_panels() -> ConstrainedLayoutEngine:
    """A layout whose panels stand as close as their labels allow."""
    return ConstrainedLayoutEngine(wspace=0.0, w_pad=0.01)


def looks(plotted: Sequence[str], printed: Sequence[str] = ()) -> dict[str, Series]:
    """A look for each model: its own where it has one, else the next that no plotted model has.

    Up to eight plotted models differ in colour and marker; one of them may have the colour, never the marker, of a
    model that is only printed.
    """
    own = {model: KNOWN[model] for model in (*plotted, *printed) if model in KNOWN}
    unused = [look.colour for model, look in KNOWN.items() if model not in plotted]
    free = [*OTHERS, *(Series(colour, marker) for colour, marker in zip(unused, SPARE_MARKERS, strict=False))]
    others = [model for model in dict.fromkeys((*plotted, *printed)) if model not in KNOWN]
    return own | {model: free[place % len(free)] for place, model in enumerate(others)}


def message_figure(text: str) -> Figure:
    """A figure that says why there is nothing to see."""
    with style():
        figure = Figure(figsize=(WIDTH, 1.2))
        figure.text(0.5, 0.5, text, ha="center", va="center", fontsize=NORMAL)
    return figure


def beside(axes: Axes, points: float) -> Transform:
    """The axes' data transform moved to the right by `points`: marks of one share stand side by side.

    Only the place on paper moves; the data of what is drawn stay what they are.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    return axes.transData + ScaledTranslation(points / 72, 0, figure.dpi_scale_trans)


def split(shares: Sequence[float]) -> int:
    """Index of the first of the crowded shares, which a second panel draws with a wider scale.

    `shares` are distinct and rising. 0 where no three neighbours are crowded, or where the crowd begins at the
    first share: then one panel is enough.
    """
    if len(shares) < 4:
        return 0
    closest = CROWDED * (shares[-1] - shares[0])
    gaps = [right - left < closest for left, right in pairwise(shares)]
    for first in range(len(gaps) - 1):
        if gaps[first] and gaps[first + 1]:
            return first
    return 0


def readable_ticks(places: Sequence[float], points_per_unit: float, room: float) -> list[int]:
    """Indices of those `places` (rising) whose labels fit, each `room` points from the one before."""
    kept: list[int] = []
    for index, place in enumerate(places):
        if not kept or (place - places[kept[-1]]) * points_per_unit >= room:
            kept.append(index)
    return kept


def legend_columns(labels: Sequence[str]) -> int:
    """How many columns of these labels, each of one or more lines, fit side by side in a figure's width."""
    font = FontProperties(family=_STYLE["font.family"])
    lines = [line for label in labels for line in label.split("\n") if line]
    longest = max((TextPath((0, 0), line, size=SMALL, prop=font).get_extents().width for line in lines), default=0)
    around = SMALL * (_STYLE["legend.handlelength"] + _STYLE["legend.handletextpad"] + _STYLE["legend.columnspacing"])
    return max(1, min(3, len(labels), int((WIDTH * 72) / (longest + around))))


def legend_height(labels: Sequence[str], columns: int) -> float:
    """Inches that a legend of these labels takes, filled column by column as matplotlib does."""
    rows, longer = divmod(len(labels), columns)
    heights, start = [], 0
    for column in range(columns):
        end = start + rows + (column < longer)
        heights.append(sum(1.25 * SMALL * (label.count("\n") + 1) + 0.5 * SMALL for label in labels[start:end]))
        start = end
    return (max(heights) + SMALL) / 72
