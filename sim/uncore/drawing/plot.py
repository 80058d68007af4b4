"""Pictures: panels (panels.py) in one file, by its ending.

    picture(path, heat_map(matrix, boundaries, ...), curves(series, ...))
    Picture(heat_map(...), ...)     the same for notebooks and scripts

.png, .svg and .pdf are drawn here, by matplotlib, which is loaded when the first one is, without a
display; .html by webpage.py.
"""

from __future__ import annotations

import math
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncore.drawing import webpage
from uncore.drawing.looks import INK, STYLE, style
from uncore.drawing.panels import MARGIN, Bars, Curves, Grid, HeatMap, Scatter
from uncore.drawing.panels import MEASURED_SUFFIX as MEASURED_SUFFIX
from uncore.drawing.panels import Panel as Panel
from uncore.drawing.panels import bars as bars
from uncore.drawing.panels import curves as curves
from uncore.drawing.panels import grid as grid
from uncore.drawing.panels import heat_map as heat_map
from uncore.drawing.panels import scatter as scatter
from uncore.support.output_files import write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = {
    **{"circle": "o", "square": "s", "triangle": "^", "diamond": "D"},
    **{"down": "v", "plus": "P", "star": "*", "cross": "X"},
}
MAX_LABELS_INSIDE = 4  # more labels stand at the ends of their lines
BESIDE = 2.8  # inches for them
LABEL_LETTERS = 34  # letters in a line of such a label
LABEL_LINE_SHARE = 0.045  # height of that line over the panel's
SIZE = (6.8, 5.2)  # inches of a panel
SMALL_SIZE = (3.6, 2.8)  # inches of a panel, where many show a series each
TITLE_LETTERS_PER_INCH = 8
ROW = 3  # panels side by side; more stand in rows
READ = 150  # cells of a grid: in no more their values can be read
DARK_SHARE = 0.6  # share of the scale above which text is light
# text colour where a page may be dark: black becomes its own ink (standalone.css)
ON_LIGHT = "#111111"
# decades of a logarithmic axis; a longer axis has ticks at powers of ten only
MAX_TICKED_DECADES = 4


def picture(path: Path, *panels: Panel, dpi: int = 130, size: tuple[float, float] = SIZE) -> Path:
    """Draws the panels into `path` (.png, .svg, .pdf or .html) and returns it."""
    if path.suffix == ".html":
        webpage.write(path, panels)
    else:
        _draw(path, panels, dpi, size)
    return path.resolve()


class Picture:
    """A picture: a notebook shows it, and `save` writes it by the file's ending."""

    def __init__(self, *panels: Panel) -> None:
        self._panels = panels

    def save(self, path: str | Path) -> Picture:
        picture(Path(path), *self._panels)
        return self

    def _repr_svg_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            return picture(Path(folder) / "picture.svg", *self._panels).read_text()


def shape(panels: Sequence[Panel]) -> tuple[int, int]:
    """Rows and columns."""
    columns = len(panels) if len(panels) <= ROW else math.ceil(math.sqrt(len(panels)))
    return math.ceil(len(panels) / columns), columns


def _draw(path: Path, panels: Sequence[Panel], dpi: int, size: tuple[float, float]) -> None:
    import matplotlib  # noqa: PLC0415 (slow to load)

    matplotlib.use("agg")
    from matplotlib import pyplot  # noqa: PLC0415 (slow to load)

    whole_titles = list(dict.fromkeys(panel.title for panel in panels))
    shown = [one for panel in panels for one in _multiples(panel, len(whole_titles) > 1)]
    if many := len(shown) > len(panels):
        panels, size = shown, SMALL_SIZE
    rows, columns = shape(panels)
    with pyplot.rc_context(STYLE):
        wide, high = size[0] + BESIDE * any(map(_is_many, panels)), size[1]
        whole = (wide * columns, high * rows)
        figure, axes = pyplot.subplots(
            rows, columns, figsize=whole, squeeze=False, layout="constrained"
        )
        if many and len(whole_titles) == 1:
            figure.suptitle(whole_titles[0], x=0.01, ha="left", weight="bold")
        for axis in axes.flat[len(panels) :]:
            axis.remove()
        for panel, axis in zip(panels, axes.flat, strict=False):
            draw(panel, axis)
            if many:
                axis.set_title(_folded(axis.get_title("left"), wide))
        try:
            write_figure(path, figure, dpi)
        finally:
            pyplot.close(figure)


def _multiples(panel: Panel, named: bool) -> Sequence[Panel]:
    """The panels that stand for one, with its title before theirs if so wanted."""
    parts = panel.multiples() if isinstance(panel, Curves) else [panel]
    if parts == [panel] or not named:
        return parts
    return [replace(part, title=f"{panel.title}: {part.title}") for part in parts]


def _folded(title: str, inches: float) -> str:
    return "\n".join(textwrap.wrap(title, int(inches * TITLE_LETTERS_PER_INCH)))


@singledispatch
def draw(panel: Any, axes: Axes) -> None:
    raise TypeError(f"expected a panel, got {type(panel).__name__}")


@draw.register(HeatMap)
def _(panel: HeatMap, axes: Axes) -> None:
    shown = [
        [math.nan if to == of else value for to, value in enumerate(row)]
        for of, row in enumerate(panel.matrix)
    ]
    low, high = panel.span or (None, None)
    colours = "RdBu_r" if panel.signed else "viridis"
    image = axes.imshow(shown, cmap=colours, interpolation="none", vmin=low, vmax=high)
    for depth, starts in enumerate(panel.boundaries.values()):
        for start in starts[1:]:
            for line in (axes.axhline, axes.axvline):
                line(
                    start - 0.5,
                    color="grey" if panel.signed else "white",
                    linewidth=max(1.6 - 0.5 * depth, 0.3),
                )
    axes.grid(False)
    axes.set(title=panel.title, xlabel=panel.axis, ylabel="hart")
    axes.figure.colorbar(image, ax=axes, label=panel.unit, shrink=0.85)


@draw.register(Grid)
def _(panel: Grid, axes: Axes) -> None:
    shown = [[math.nan if value is None else value for value in row] for row in panel.values]
    low, high = panel.span or (None, None)
    image = axes.imshow(shown, cmap="viridis", aspect="auto", origin="lower", vmin=low, vmax=high)
    axes.set_xticks(range(len(panel.xs)), list(panel.xs))
    axes.set_yticks(range(len(panel.ys)), list(panel.ys))
    axes.grid(False)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if len(panel.xs) * len(panel.ys) <= READ:
        _write_values(panel, axes)
    axes.figure.colorbar(image, ax=axes, label=panel.unit, shrink=0.85)


def _write_values(panel: Grid, axes: Axes) -> None:
    """White on what is dark."""
    values = [value for row in panel.values for value in row if value is not None]
    low, high = panel.span or (min(values), max(values))
    for y, row in enumerate(panel.values):
        for x, value in enumerate(row):
            if value is not None:
                colour = "white" if value < low + DARK_SHARE * (high - low) else ON_LIGHT
                axes.text(x, y, f"{value:.3g}", ha="center", va="center", color=colour)


@draw.register(Curves)
def _(panel: Curves, axes: Axes) -> None:
    for label, points in panel.series.items():
        colour, marker, line = panel.style(label)
        xs, ys, *band = zip(*points, strict=True)
        if band:
            axes.fill_between(xs, band[0], band[1], color=colour, alpha=0.2, lw=0)
        axes.plot(
            xs,
            ys,
            label="_" if label.endswith(MEASURED_SUFFIX) or _is_many(panel) else label,
            color=colour,
            marker=MARKERS[marker],
            markersize=4.5,
            linestyle=line,
        )
    _scale(panel, axes)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    _legend(panel, axes)
    if _is_many(panel):
        _label_ends(panel, axes)


def _label_ends(panel: Curves, axes: Axes) -> None:
    """Labels beside the panel, each as near to its line's end as the others leave room."""
    axes.get_xlim(), axes.get_ylim()  # makes the limits final, on which places depend
    to_axes = axes.transData + axes.transAxes.inverted()
    ends: dict[str, Any] = {
        label: tuple(max(points, key=lambda point: point[0])[:2])
        for label, points in panel.series.items()
        if not label.endswith(MEASURED_SUFFIX)
    }
    heights = {label: float(to_axes.transform(end)[1]) for label, end in ends.items()}
    folded = {label: textwrap.wrap(label, LABEL_LETTERS) for label in ends}
    order = sorted(ends, key=lambda label: -heights[label])
    rooms = [len(folded[label]) * LABEL_LINE_SHARE for label in order]
    for label, height in zip(
        order, _apart([heights[label] for label in order], rooms), strict=True
    ):
        line: Any = {"arrowstyle": "-", "color": panel.style(label).colour, "lw": 0.8}
        axes.annotate(
            "\n".join(folded[label]),
            ends[label],
            (1.03, height),
            textcoords="axes fraction",
            va="center",
            color=INK,
            annotation_clip=False,
            arrowprops={**line, "shrinkA": 0, "shrinkB": 3, "relpos": (0, 0.5)},
        )


def _apart(middles: Sequence[float], rooms: Sequence[float]) -> list[float]:
    """Middles of labels, the highest first, moved down where they meet, and up again from below."""
    gaps = [(above + below) / 2 for above, below in pairwise(rooms)]
    placed = [middles[0]]
    for middle, gap in zip(middles[1:], gaps, strict=True):
        placed.append(min(middle, placed[-1] - gap))
    placed[-1] = max(placed[-1], rooms[-1] / 2)
    for number in range(len(gaps) - 1, -1, -1):
        placed[number] = max(placed[number], placed[number + 1] + gaps[number])
    return placed


def _scale(panel: Curves, axes: Axes) -> None:
    """Logarithmic where that is how its values are spread."""
    if panel.log_x:
        axes.set_xscale("log", base=2)
    axes.set_xticks(panel.ticks, list(panel.words) or [f"{tick:g}" for tick in panel.ticks])
    low, high = panel.heights
    if panel.log_y:
        axes.set_yscale("log")
        axes.set_ylim(low / MARGIN, high * MARGIN)
        axes.set_yticks(_round_numbers(low / MARGIN, high * MARGIN))
        axes.yaxis.set_major_formatter("{x:g}")
    else:
        axes.set_ylim(0, high * MARGIN if panel.span else None)
    axes.minorticks_off()


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each decade; of many decades 1."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    steps = (1, 2, 5) if len(decades) <= MAX_TICKED_DECADES else (1,)
    return [s * 10.0**d for d in decades for s in steps if low <= s * 10.0**d <= high]


def _is_many(panel: Panel) -> bool:
    return isinstance(panel, Curves) and len(panel.own) > MAX_LABELS_INSIDE


def _legend(panel: Curves, axes: Axes) -> None:
    if panel.knees:
        xs, ys = zip(*panel.knees.values(), strict=True)
        ring: Any = {"marker": "o", "markersize": 11, "fillstyle": "none", "linestyle": "none"}
        axes.plot(xs, ys, color="grey", label="knee: fewest threads for 9/10 of the most", **ring)
    if any(label.endswith(MEASURED_SUFFIX) for label in panel.series):
        axes.plot([], [], "--", color="grey", label="measured")
    if axes.get_legend_handles_labels()[0] and (len(panel.series) > 1 or panel.knees):
        axes.legend()


@draw.register(Bars)
def _(panel: Bars, axes: Axes) -> None:
    labels = panel.labels
    width = 0.8 / max(len(labels), 1)
    for number, label in enumerate(labels):
        heights = [group.get(label, math.nan) for group in panel.values.values()]
        aside = (number - (len(labels) - 1) / 2) * width
        places = [group + aside for group in range(len(panel.values))]
        draw_one = axes.barh if panel.lying else axes.bar
        draw_one(places, heights, width * 0.92, label=label, color=style(number).colour)
    if panel.lying:
        axes.set_yticks(range(len(panel.values)), list(panel.values))
        axes.set(title=panel.title, xlabel=panel.y)
        axes.invert_yaxis()
        axes.axvline(0, color="black", linewidth=0.8)
    else:
        axes.set_xticks(range(len(panel.values)), list(panel.values))
        axes.set(title=panel.title, ylabel=panel.y)
    axes.grid(axis="y" if panel.lying else "x", visible=False)
    if len(labels) > 1:
        axes.legend()


@draw.register(Scatter)
def _(panel: Scatter, axes: Axes) -> None:
    if panel.outside:
        _points(axes, panel.outside, marker="x", s=18, color="#bbbbbb", lw=0.8, label="not allowed")
    for number, label in enumerate(panel.labels):
        colour, marker, _ = style(number)
        kind: Any = {"color": colour, "marker": MARKERS[marker]}
        _points(axes, panel.others[label], s=16, alpha=0.3, lw=0, **kind)
        _points(axes, panel.best[label], s=52, edgecolors="black", lw=0.6, **kind)
        _points(axes, [], s=40, label=label, **kind)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    axes.legend()


def _points(axes: Axes, points: Sequence[tuple[float, float]], **how: Any) -> None:
    axes.scatter([x for x, _ in points], [y for _, y in points], **how)
