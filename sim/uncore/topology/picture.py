"""A machine as a picture: stops, links in the colour of their level, frames of groups.

`save_picture(machine, path)` writes it; the suffix of the path chooses the format (PNG, SVG, PDF).
Squares are cores, diamonds are memory nodes, triangles slices of a resolver, dots bare stops.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from uncore.support.output_files import write_figure
from uncore.topology.layout import Box, layout
from uncore.topology.machine import Machine

COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa3377", "#66ccee", "#ccbb44")
INK = "#333333"
INCHES = 0.34  # of one stop, at most
LARGEST = 18.0  # inches


def save_picture(machine: Machine, path: Path) -> None:
    box = layout(machine)
    scale = min(INCHES, LARGEST / max(box.width, box.height))
    figure = Figure(figsize=(max(5.0, box.width * scale), box.height * scale + 1.2))
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.84))
    _frames(axes, box)
    colours = _links(axes, machine, box)
    _agents(axes, machine, box, 110 * scale / INCHES)
    axes.set_xlim(-0.3, box.width + 0.3)
    axes.set_ylim(box.height + 0.3, -0.3)
    axes.set_aspect("equal")
    axes.set_axis_off()
    figure.suptitle(f"{machine.name}: {machine.cores} cores, {machine.harts} harts", color=INK)
    figure.legend(handles=_legend(colours), loc="upper center", ncols=8, frameon=False, fontsize=8,
                  bbox_to_anchor=(0.5, 1 - 0.35 / figure.get_figheight()))  # fmt: skip
    write_figure(path, figure)


def _frames(axes: Axes, box: Box) -> None:
    for label, (x, y), (width, height) in box.frames:
        axes.add_patch(
            Rectangle((x, y), width, height, facecolor="#00000008", edgecolor="#bbbbbb", lw=0.8)
        )
        axes.text(x + 0.15, y + 0.1, label, fontsize=6, color="#777777", va="top")


def _links(axes: Axes, machine: Machine, box: Box) -> dict[str, str]:
    """One line for both directions; a line bends where others stand between its ends."""
    levels = [level for level in machine.levels if any(k.level == level for k in machine.links)]
    colours: dict[str, str] = dict(zip(levels, COLOURS * len(levels), strict=False))
    drawn: set[frozenset[int]] = set()
    for link in machine.links:
        ends = frozenset((link.source, link.target))
        if ends not in drawn:
            drawn.add(ends)
            a, b = box.points[machine.stops[link.source]], box.points[machine.stops[link.target]]
            bend = 0.0 if _is_clear(a, b) else 0.12
            axes.annotate(
                "", a, b, arrowprops={"arrowstyle": "-", "color": colours[link.level], "lw": 1.1,
                                      "connectionstyle": f"arc3,rad={bend}",
                                      "shrinkA": 0, "shrinkB": 0}, zorder=1
            )  # fmt: skip
    return colours


def _is_clear(a: tuple[float, float], b: tuple[float, float]) -> bool:
    straight = abs(a[0] - b[0]) < 0.01 or abs(a[1] - b[1]) < 0.01
    return not straight or abs(a[0] - b[0]) + abs(a[1] - b[1]) < 8


def _agents(axes: Axes, machine: Machine, box: Box, size: float) -> None:
    at = [box.points[stop] for stop in machine.stops]
    slices = {stop for resolver in machine.resolvers for stop in resolver.slices}
    homes = {memory.stop for memory in machine.memories}
    looks = (
        (set(range(len(at))), "o", INK, 0.12),
        (homes, "D", "#ddaa33", 1.6),
        (slices, "^", "#66aa99", 1.0),
        (set(machine.core_stops), "s", "#ffffff", 1.0),
    )
    for order, (stops, marker, colour, grow) in enumerate(looks, start=2):
        xs, ys = zip(*(at[stop] for stop in stops), strict=True)
        axes.scatter(
            xs, ys, size * grow, colour, marker=marker, edgecolors=INK, linewidths=0.6, zorder=order
        )
    style: dict[str, Any] = {
        "fontsize": min(6.0, size / 18),
        "ha": "center",
        "va": "center_baseline",
        "zorder": 6,
    }
    for stop in sorted(set(machine.core_stops)):
        cores = [str(c) for c, seat in enumerate(machine.core_stops) if seat == stop]
        axes.text(*at[stop], " ".join(cores), **style)


def _legend(colours: dict[str, str]) -> list[Line2D]:
    lines = [Line2D([], [], color=c, label=f"{level} links") for level, c in colours.items()]
    marks = (("s", "#ffffff", "core"), ("^", "#66aa99", "slice"), ("D", "#ddaa33", "memory"))
    return lines + [
        Line2D([], [], ls="", marker=m, color=c, markeredgecolor=INK, label=label)
        for m, c, label in marks
    ]
