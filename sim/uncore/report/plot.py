"""Pictures: panels (heat map, curves, bars) side by side in one file.

    picture(path, heat_map(matrix, boundaries, ...), curves(series, ...))

A panel is a function that draws on matplotlib axes.  matplotlib is loaded when the first panel is
drawn, without a display.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uncore.files import write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Panel = Callable[["Axes"], None]
Series = Mapping[str, Sequence[Sequence[float]]]  # label -> points: x, y, and ends of a band

# Distinct for colour-blind readers too (Okabe and Ito).
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31"]
MARKERS = "os^Dvp*X"
MEASURED = ", measured"  # ends the label of a series drawn in the colour of the simulated one
MANY = 4  # labels; more of them stand beside the panel
WIDE = 20  # a larger ratio of values is drawn on a logarithmic axis
STYLE: Any = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "legend.frameon": False,
}


def picture(path: Path, *panels: Panel, dpi: int = 130) -> Path:
    """Draws the panels side by side into `path` (.png, .svg or .pdf) and returns it."""
    import matplotlib  # noqa: PLC0415 (slow to load)

    matplotlib.use("agg")
    from matplotlib import pyplot  # noqa: PLC0415 (slow to load)

    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(
            1, len(panels), figsize=(6.8 * len(panels), 5.2), squeeze=False, layout="constrained"
        )
        for panel, axis in zip(panels, axes[0], strict=True):
            panel(axis)
        try:
            write_figure(path, figure, dpi)
        finally:
            pyplot.close(figure)
    return path.resolve()


def heat_map(
    matrix: Sequence[Sequence[float]],
    boundaries: Mapping[str, Sequence[int]],
    title: str,
    unit: str,
    span: tuple[float, float] | None = None,
    signed: bool = False,
) -> Panel:
    """A square matrix by colour; `boundaries` per level, outermost first: where a member begins.

    `span`: the values at the ends of the scale, so that panels compare; `signed`: white is 0.
    """

    def draw(axes: Axes) -> None:
        shown = [
            [math.nan if to == of else value for to, value in enumerate(row)]
            for of, row in enumerate(matrix)
        ]
        low, high = span or (None, None)
        colours = "RdBu_r" if signed else "viridis"
        image = axes.imshow(shown, cmap=colours, interpolation="nearest", vmin=low, vmax=high)
        for depth, starts in enumerate(boundaries.values()):
            for start in starts[1:]:
                for line in (axes.axhline, axes.axvline):
                    line(
                        start - 0.5,
                        color="grey" if signed else "white",
                        linewidth=max(1.6 - 0.5 * depth, 0.3),
                    )
        axes.grid(False)
        axes.set(title=title, xlabel="hart", ylabel="hart")
        axes.figure.colorbar(image, ax=axes, label=unit, shrink=0.85)
        named = [level for level, starts in boundaries.items() if len(starts) > 1]
        if named:
            axes.set_xlabel(f"hart   (lines: {', '.join(named)})")

    return draw


def curves(series: Series, title: str, x: str, y: str, dashed: Sequence[str] = ()) -> Panel:
    """Lines over a logarithmic x, and y where it spans much; `dashed` series are measurements."""

    def draw(axes: Axes) -> None:
        own = list(dict.fromkeys(label.removesuffix(MEASURED) for label in series))
        for label, points in series.items():
            number = own.index(label.removesuffix(MEASURED))
            xs, ys, *band = zip(*points, strict=True)
            if band:
                axes.fill_between(
                    xs, band[0], band[1], color=COLOURS[number % len(COLOURS)], alpha=0.2, lw=0
                )
            axes.plot(
                xs,
                ys,
                label="_" if label.endswith(MEASURED) else label,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                markersize=4.5,
                linestyle="--" if label in dashed else "-",
            )
        ticks = sorted({p[0] for points in series.values() for p in points})
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
        axes.minorticks_off()
        axes.set(title=title, xlabel=x, ylabel=y)
        heights = [p[1] for points in series.values() for p in points]
        if min(heights) > 0 and max(heights) > WIDE * min(heights):
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.grid(which="minor", axis="y", linewidth=0.4)
        else:
            axes.set_ylim(bottom=0)
        if len(own) < len(series):
            axes.plot([], [], "--", color="grey", label="measured")
        if len(series) > 1:
            beside = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if len(own) > MANY else {}
            axes.legend(**beside)

    return draw


def bars(values: Mapping[str, Mapping[str, float]], title: str, y: str) -> Panel:
    """Groups of bars: group -> label -> height."""

    def draw(axes: Axes) -> None:
        labels = list(dict.fromkeys(label for group in values.values() for label in group))
        width = 0.8 / max(len(labels), 1)
        for number, label in enumerate(labels):
            heights = [group.get(label, math.nan) for group in values.values()]
            aside = (number - (len(labels) - 1) / 2) * width
            places = [group + aside for group in range(len(values))]
            colour = COLOURS[number % len(COLOURS)]
            axes.bar(places, heights, width * 0.92, label=label, color=colour)
        axes.set_xticks(range(len(values)), list(values))
        axes.grid(axis="x", visible=False)
        axes.set(title=title, ylabel=y)
        if len(labels) > 1:
            axes.legend()

    return draw
