"""Draws a machine: stops, links in the colour of their level, and frames around groups.

    save_picture(machine, path)     writes the picture; the suffix of the path chooses the format
                                    (PNG, SVG, PDF)
    figure_of(machine)              returns the figure without saving it

Squares are cores, diamonds are memory nodes, triangles slices of a resolver, dots other stops.  A
bus is a bar, with a branch to each stop on it.

Frames, links and cores are added by add_artist(), which is many times as quick as add_patch() and
annotate(): it does not compute the limits of the axes, which figure_of() sets.
"""

from __future__ import annotations

import textwrap
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Rectangle

from uncore.drawing.looks import COLOURS, EDGE, INK, SOFT, STYLE
from uncore.support.output_files import write_figure
from uncore.topology.fabric import MIN_LINK_PS
from uncore.topology.layout import Box, layout
from uncore.topology.machine import Machine

# greatest width of one stop, and greatest length of the picture's longer side, in inches
MAX_STOP_INCHES, MAX_SIDE_INCHES = 0.36, 26.0
MIN_WIDTH_INCHES = 4.2  # leaves room for the title and the legend
POINTS_PER_INCH = 72
CORE_SIDE_STOPS = 0.64  # side of a core's square, in stops
# width of a letter and height of a line, relative to the font size
LETTER_WIDTH, LINE_HEIGHT = 0.64, 1.2
MAX_FONT_POINTS = 7.0
NAME_ROOM_STOPS = 0.5  # height reserved for the name at the top of a frame, in stops
TITLE_POINTS, MARGIN_POINTS = 12, 4
FAINT_LINK_STOPS = 3.0  # longer links are drawn faintly, because they cross other stops
BEND_STOPS = 1.0  # twice the height of a link's arc, in stops
SLICE_COLOUR, MEMORY_COLOUR = COLOURS[2], COLOURS[4]
# dashes of the lines of each level, which distinguish levels in print without colours
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1)), (0, (5, 1, 1, 1)))
Point = tuple[float, float]
Looks = dict[str, Any]  # the attributes of a line that matplotlib takes: colour and dashes


def save_picture(machine: Machine, path: Path) -> None:
    write_figure(path, figure_of(machine))


def figure_of(machine: Machine) -> Figure:
    box = layout(machine)
    inch = min(MAX_STOP_INCHES, MAX_SIDE_INCHES / max(box.width, box.height))
    width, height = max(MIN_WIDTH_INCHES, (box.width + 0.6) * inch), (box.height + 0.6) * inch
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        points_per_stop = inch * POINTS_PER_INCH
        _draw_frames(axes, box, points_per_stop)
        looks = _draw_links(axes, machine, box)
        _draw_agents(axes, machine, box, points_per_stop)
        axes.set(xlim=(-0.3, box.width + 0.3), ylim=(box.height + 0.3, -0.3), aspect="equal")
        axes.set_axis_off()
        head = _draw_head(figure, machine, looks)
        figure.set_size_inches(width, height + head)
        axes.set_position((0, 0, 1, height / (height + head)))
    return figure


def _draw_head(figure: Figure, machine: Machine, looks: dict[str, Looks]) -> float:
    """Adds the title and the legend, no wider than the picture; returns their height in inches."""
    width = figure.get_figwidth()
    title = f"{machine.name}: {machine.cores} cores, {machine.harts} harts"
    letters = int(width * POINTS_PER_INCH / (TITLE_POINTS * LETTER_WIDTH))
    lines = textwrap.wrap(title, letters)
    title_ = figure.suptitle("\n".join(lines), color=INK, fontsize=TITLE_POINTS, va="top")
    handles = _legend_handles(machine, looks)
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(
            handles=handles, loc="upper center", ncols=columns, fontsize=8, labelcolor=INK
        )
        size = legend.get_window_extent()
        if columns == 1 or size.width <= 0.98 * width * figure.dpi:
            break
        legend.remove()
    head_height = (len(lines) * TITLE_POINTS * LINE_HEIGHT + 2 * MARGIN_POINTS) / POINTS_PER_INCH
    height = head_height + size.height / figure.dpi
    total = figure.get_figheight() + height
    title_.set_y(1 - MARGIN_POINTS / POINTS_PER_INCH / total)
    legend.set_bbox_to_anchor((0.5, 1 - head_height / total))
    return height


def _draw_frames(axes: Axes, box: Box, points_per_stop: float) -> None:
    font = min(MAX_FONT_POINTS, NAME_ROOM_STOPS * points_per_stop / LINE_HEIGHT)
    for label, (x, y), (width, height) in box.frames:
        axes.add_artist(
            Rectangle((x, y), width, height, facecolor="#00000008", edgecolor=EDGE, lw=0.8)
        )
        size = min(font, (width - 0.3) * points_per_stop / (LETTER_WIDTH * len(label)))
        axes.text(x + 0.15, y + 0.06, label, fontsize=size, color=SOFT, va="top", zorder=6)


def _draw_links(axes: Axes, machine: Machine, box: Box) -> dict[str, Looks]:
    """Draws each link as one line for both directions; returns the line attributes by level."""
    levels = [level for level in machine.levels if any(k.level == level for k in machine.links)]
    looks: dict[str, Looks] = {
        level: {"color": colour, "ls": dashes}
        for level, colour, dashes in zip(levels, cycle(COLOURS), cycle(DASHES), strict=False)
    }
    wires = {tuple(sorted((link.source, link.target))): link.level for link in machine.links}
    degrees = Counter(stop for wire in wires for stop in wire)
    columns, rows = _lines([box.points[machine.stops[n]] for n in degrees if degrees[n] > 1])
    for (source, target), level in wires.items():
        names = machine.stops[source], machine.stops[target]
        a, b = (box.points[name] for name in names)
        if names[0].endswith("bus"):
            _draw_branch(axes, a, b, looks[level]["color"])
        else:
            passes_stops = _passes(rows, a, b) or _passes(columns, a[::-1], b[::-1])
            _draw_wire(axes, a, b, looks[level], passes_stops)
    return looks


# Maps the coordinate of each column or row (in hundredths of a stop) to the ascending positions of
# its stops.
Lines = dict[int, list[float]]


def _lines(places: list[Point]) -> tuple[Lines, Lines]:
    """Groups the positions of stops by column, and by row."""
    columns, rows = defaultdict[int, list[float]](list), defaultdict[int, list[float]](list)
    for x, y in sorted(places):
        columns[round(100 * x)].append(y)
        rows[round(100 * y)].append(x)
    return columns, rows


def _passes(lines: Lines, a: Point, b: Point) -> bool:
    """True if a straight line from `a` to `b` passes other stops of the same row."""
    if round(100 * a[1]) != round(100 * b[1]):
        return False
    positions, (first, last) = lines.get(round(100 * a[1]), []), sorted((a[0], b[0]))
    return bisect_left(positions, last - 0.01) > bisect_right(positions, first + 0.01)


def _draw_branch(axes: Axes, bus: Point, member: Point, colour: str) -> None:
    axes.plot([bus[0], member[0]], [bus[1], bus[1]], color=colour, lw=4, zorder=1)
    axes.plot([member[0], member[0]], [bus[1], member[1]], color=colour, lw=1.1, zorder=1)


def _draw_wire(axes: Axes, a: Point, b: Point, looks: Looks, passes_stops: bool) -> None:
    """Draws a link, as an arc if a straight line would pass other stops."""
    length = abs(a[0] - b[0]) + abs(a[1] - b[1])
    is_long = length > FAINT_LINK_STOPS
    bend = BEND_STOPS / length if passes_stops else 0.0
    kind: Looks = {"connectionstyle": f"arc3,rad={bend}", "shrinkA": 0, "shrinkB": 0}
    weight: Looks = {"lw": 0.8 if is_long else 1.2, "alpha": 0.55 if is_long else 1.0}
    look = looks | kind | weight
    axes.add_artist(FancyArrowPatch(b, a, arrowstyle="-", zorder=1, clip_on=False, **look))


def _draw_agents(axes: Axes, machine: Machine, box: Box, points_per_stop: float) -> None:
    points = [box.points[stop] for stop in machine.stops]
    slices = {stop for resolver in machine.resolvers for stop in resolver.slices}
    homes = {memory.stop for memory in machine.memories}
    looks = (
        (set(range(len(points))), "o", INK, 0.2),
        (homes, "D", MEMORY_COLOUR, 0.62),
        (slices, "^", SLICE_COLOUR, 0.5),
    )
    for order, (stops, marker, colour, side) in enumerate(looks, start=2):
        xs, ys = zip(*(points[stop] for stop in stops), strict=True)
        size = (side * points_per_stop) ** 2
        axes.scatter(xs, ys, size, colour, marker=marker, edgecolors=INK, lw=0.6, zorder=order)
    labels = dict(_core_labels(machine))
    square_points = CORE_SIDE_STOPS * points_per_stop
    font = min(
        MAX_FONT_POINTS, *(_fitting_font_size(text, square_points) for text in labels.values())
    )
    for stop, text in labels.items():
        x, y = points[stop]
        corner = (x - CORE_SIDE_STOPS / 2, y - CORE_SIDE_STOPS / 2)
        axes.add_artist(
            Rectangle(
                corner,
                CORE_SIDE_STOPS,
                CORE_SIDE_STOPS,
                facecolor="white",
                edgecolor=INK,
                lw=0.6,
                zorder=5,
            )
        )
        axes.text(
            x, y, text, fontsize=font, color=INK, ha="center", va="center", zorder=6, linespacing=1
        )


def _core_labels(machine: Machine) -> Iterator[tuple[int, str]]:
    """Yields (stop, text in its square): the numbers of its cores, two in a line if there are more
    than two.
    """
    for stop in sorted(set(machine.core_stops)):
        cores = [str(c) for c, stop_of_c in enumerate(machine.core_stops) if stop_of_c == stop]
        cores_per_line = 1 if len(cores) < 3 else 2
        rows = [
            " ".join(cores[i : i + cores_per_line]) for i in range(0, len(cores), cores_per_line)
        ]
        yield stop, "\n".join(rows)


def _fitting_font_size(text: str, side: float) -> float:
    """Returns the font size at which the text fills nine tenths of a square of `side` points."""
    lines = text.split("\n")
    return 0.9 * side / max(LETTER_WIDTH * max(map(len, lines)), LINE_HEIGHT * len(lines))


def _legend_handles(machine: Machine, looks: dict[str, Looks]) -> list[Line2D]:
    lines = [
        Line2D([], [], label=f"{level}: {_latencies(machine, level)}", **look)
        for level, look in looks.items()
    ]
    marks = (("s", "#ffffff", "core"), ("^", SLICE_COLOUR, "slice"), ("D", MEMORY_COLOUR, "memory"))
    return lines + [
        Line2D([], [], ls="", marker=m, color=c, markeredgecolor=INK, label=label)
        for m, c, label in marks
    ]


def _latencies(machine: Machine, level: str) -> str:
    """Formats the range of latencies, in ns, of a message without data over one link of the level.

    Links with the minimum latency (which stands for no cost) are left out if there are others.
    """
    times = {link.control / 1000 for link in machine.links if link.level == level}
    times = times - {MIN_LINK_PS / 1000} or times
    return " to ".join(dict.fromkeys(f"{time:.3g}" for time in (min(times), max(times)))) + " ns"
