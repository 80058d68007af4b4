"""Draws panels (panels.py) into a file, whose suffix chooses the format.

    picture(path, heat_map(matrix, boundaries, ...), curves(series, ...))
    Picture(heat_map(...), ...)     the same, for notebooks and scripts

matplotlib draws .png, .svg and .pdf without a display; it is loaded when the first picture is
drawn. webpage.py writes .html.
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
from uncore.drawing.panels import HEIGHT_MARGIN, Bars, Curves, Grid, HeatMap, Scatter
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
MAX_LABELS_INSIDE = 4  # if a panel has more labels, they are placed beside it, at the lines' ends
LABELS_WIDTH_INCHES = 2.8  # width reserved for labels beside a panel
LABEL_LETTERS = 34  # letters in one line of a label beside a panel
LABEL_LINE_SHARE = 0.045  # height of one line of a label, as a share of the panel's height
PANEL_SIZE_INCHES = (6.8, 5.2)  # width and height of a panel
SMALL_PANEL_SIZE_INCHES = (3.6, 2.8)  # width and height if each series has a panel of its own
TITLE_LETTERS_PER_INCH = 8
MAX_PANELS_IN_ROW = 3  # panels side by side; more are arranged in rows
MAX_CELLS_WITH_VALUES = 150  # in a grid with more cells, values are not written in the cells
DARK_SHARE = 0.6  # cells below this share of the colour scale are dark, so their text is white
# Text colour on light cells. It is not pure black, because pages replace black by the colour of
# their text (standalone.css).
LIGHT_CELL_TEXT = "#111111"
# On a logarithmic axis with more decades, only powers of 10 have ticks; otherwise 2 and 5, too.
MAX_TICKED_DECADES = 4


def picture(
    path: Path, *panels: Panel, dpi: int = 130, size: tuple[float, float] = PANEL_SIZE_INCHES
) -> Path:
    """Draws the panels into `path` (.png, .svg, .pdf or .html) and returns it."""
    if path.suffix == ".html":
        webpage.write(path, panels)
    else:
        _draw(path, panels, dpi, size)
    return path.resolve()


class Picture:
    """A picture that notebooks show; `save` writes it in the format of the file's suffix."""

    def __init__(self, *panels: Panel) -> None:
        self._panels = panels

    def save(self, path: str | Path) -> Picture:
        picture(Path(path), *self._panels)
        return self

    def _repr_svg_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            return picture(Path(folder) / "picture.svg", *self._panels).read_text()


def shape(panels: Sequence[Panel]) -> tuple[int, int]:
    """Returns the number of rows and the number of columns in which panels are arranged."""
    columns = len(panels) if len(panels) <= MAX_PANELS_IN_ROW else math.ceil(math.sqrt(len(panels)))
    return math.ceil(len(panels) / columns), columns


def _draw(path: Path, panels: Sequence[Panel], dpi: int, size: tuple[float, float]) -> None:
    import matplotlib  # noqa: PLC0415 (slow to load)

    matplotlib.use("agg")
    from matplotlib import pyplot  # noqa: PLC0415 (slow to load)

    whole_titles = list(dict.fromkeys(panel.title for panel in panels))
    drawn_panels = [
        single for panel in panels for single in _multiples(panel, len(whole_titles) > 1)
    ]
    if has_multiples := len(drawn_panels) > len(panels):
        panels, size = drawn_panels, SMALL_PANEL_SIZE_INCHES
    rows, columns = shape(panels)
    with pyplot.rc_context(STYLE):
        panel_width, panel_height = (
            size[0] + LABELS_WIDTH_INCHES * any(map(_labels_beside, panels)),
            size[1],
        )
        figure_size = (panel_width * columns, panel_height * rows)
        figure, axes = pyplot.subplots(
            rows, columns, figsize=figure_size, squeeze=False, layout="constrained"
        )
        if has_multiples and len(whole_titles) == 1:
            figure.suptitle(whole_titles[0], x=0.01, ha="left", weight="bold")
        for axis in axes.flat[len(panels) :]:
            axis.remove()
        for panel, axis in zip(panels, axes.flat, strict=False):
            draw(panel, axis)
            if has_multiples:
                axis.set_title(_folded(axis.get_title("left"), panel_width))
        try:
            write_figure(path, figure, dpi)
        finally:
            pyplot.close(figure)


def _multiples(panel: Panel, named: bool) -> Sequence[Panel]:
    """Returns the panels that are drawn for one panel. If there are several and `named` is True,
    its title precedes the title of each.
    """
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
    shown_values = [
        [math.nan if column == row_number else value for column, value in enumerate(row)]
        for row_number, row in enumerate(panel.matrix)
    ]
    low, high = panel.span or (None, None)
    colours = "RdBu_r" if panel.signed else "viridis"
    image = axes.imshow(shown_values, cmap=colours, interpolation="none", vmin=low, vmax=high)
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
    shown_values = [[math.nan if value is None else value for value in row] for row in panel.values]
    low, high = panel.span or (None, None)
    image = axes.imshow(
        shown_values, cmap="viridis", aspect="auto", origin="lower", vmin=low, vmax=high
    )
    axes.set_xticks(range(len(panel.xs)), list(panel.xs))
    axes.set_yticks(range(len(panel.ys)), list(panel.ys))
    axes.grid(False)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if len(panel.xs) * len(panel.ys) <= MAX_CELLS_WITH_VALUES:
        _write_values(panel, axes)
    axes.figure.colorbar(image, ax=axes, label=panel.unit, shrink=0.85)


def _write_values(panel: Grid, axes: Axes) -> None:
    """Writes each cell's value, in white on dark cells."""
    values = [value for row in panel.values for value in row if value is not None]
    low, high = panel.span or (min(values), max(values))
    for y, row in enumerate(panel.values):
        for x, value in enumerate(row):
            if value is not None:
                colour = "white" if value < low + DARK_SHARE * (high - low) else LIGHT_CELL_TEXT
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
            label="_" if label.endswith(MEASURED_SUFFIX) or _labels_beside(panel) else label,
            color=colour,
            marker=MARKERS[marker],
            markersize=4.5,
            linestyle=line,
        )
    _set_scales(panel, axes)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    _draw_legend(panel, axes)
    if _labels_beside(panel):
        _label_ends(panel, axes)


def _label_ends(panel: Curves, axes: Axes) -> None:
    """Places labels beside the panel, as near to their lines' ends as possible without overlap."""
    # Reading the limits makes matplotlib fix them; positions of labels depend on them.
    axes.get_xlim(), axes.get_ylim()
    to_axes = axes.transData + axes.transAxes.inverted()
    ends: dict[str, Any] = {
        label: tuple(max(points, key=lambda point: point[0])[:2])
        for label, points in panel.series.items()
        if not label.endswith(MEASURED_SUFFIX)
    }
    heights = {label: float(to_axes.transform(end)[1]) for label, end in ends.items()}
    folded = {label: textwrap.wrap(label, LABEL_LETTERS) for label in ends}
    order = sorted(ends, key=lambda label: -heights[label])
    label_heights = [len(folded[label]) * LABEL_LINE_SHARE for label in order]
    middles = _without_overlap([heights[label] for label in order], label_heights)
    for label, height in zip(order, middles, strict=True):
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


def _without_overlap(middles: Sequence[float], label_heights: Sequence[float]) -> list[float]:
    """Moves the middles of labels, which are sorted from the top, so that no labels overlap."""
    gaps = [(above + below) / 2 for above, below in pairwise(label_heights)]
    placed = [middles[0]]
    for middle, gap in zip(middles[1:], gaps, strict=True):
        placed.append(min(middle, placed[-1] - gap))
    placed[-1] = max(placed[-1], label_heights[-1] / 2)
    for number in range(len(gaps) - 1, -1, -1):
        placed[number] = max(placed[number], placed[number + 1] + gaps[number])
    return placed


def _set_scales(panel: Curves, axes: Axes) -> None:
    """Chooses logarithmic axes for widely spread values, and sets limits and ticks."""
    if panel.log_x:
        axes.set_xscale("log", base=2)
    axes.set_xticks(panel.ticks, list(panel.words) or [f"{tick:g}" for tick in panel.ticks])
    low, high = panel.heights
    if panel.log_y:
        axes.set_yscale("log")
        axes.set_ylim(low / HEIGHT_MARGIN, high * HEIGHT_MARGIN)
        axes.set_yticks(_round_numbers(low / HEIGHT_MARGIN, high * HEIGHT_MARGIN))
        axes.yaxis.set_major_formatter("{x:g}")
    else:
        axes.set_ylim(0, high * HEIGHT_MARGIN if panel.span else None)
    axes.minorticks_off()


def _round_numbers(low: float, high: float) -> list[float]:
    """Returns the ticks 1, 2 and 5 of each decade; if there are many decades, only 1."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    steps = (1, 2, 5) if len(decades) <= MAX_TICKED_DECADES else (1,)
    return [s * 10.0**d for d in decades for s in steps if low <= s * 10.0**d <= high]


def _labels_beside(panel: Panel) -> bool:
    return isinstance(panel, Curves) and len(panel.series_labels) > MAX_LABELS_INSIDE


def _draw_legend(panel: Curves, axes: Axes) -> None:
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
        offset = (number - (len(labels) - 1) / 2) * width
        positions = [group + offset for group in range(len(panel.values))]
        draw_bars = axes.barh if panel.horizontal else axes.bar
        draw_bars(positions, heights, width * 0.92, label=label, color=style(number).colour)
    if panel.horizontal:
        axes.set_yticks(range(len(panel.values)), list(panel.values))
        axes.set(title=panel.title, xlabel=panel.y)
        axes.invert_yaxis()
        axes.axvline(0, color="black", linewidth=0.8)
    else:
        axes.set_xticks(range(len(panel.values)), list(panel.values))
        axes.set(title=panel.title, ylabel=panel.y)
    axes.grid(axis="y" if panel.horizontal else "x", visible=False)
    if len(labels) > 1:
        axes.legend()


@draw.register(Scatter)
def _(panel: Scatter, axes: Axes) -> None:
    if panel.outside:
        _draw_points(
            axes, panel.outside, marker="x", s=18, color="#bbbbbb", lw=0.8, label="not allowed"
        )
    for number, label in enumerate(panel.labels):
        colour, marker, _ = style(number)
        kind: Any = {"color": colour, "marker": MARKERS[marker]}
        _draw_points(axes, panel.others[label], s=16, alpha=0.3, lw=0, **kind)
        _draw_points(axes, panel.best[label], s=52, edgecolors="black", lw=0.6, **kind)
        _draw_points(axes, [], s=40, label=label, **kind)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    axes.legend()


def _draw_points(axes: Axes, points: Sequence[tuple[float, float]], **look: Any) -> None:
    axes.scatter([x for x, _ in points], [y for _, y in points], **look)
