"""Draws as SVG the machine with the traffic on its links, and a matrix of lines taken by cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape

from uncore.drawing import formats as units
from uncore.job import Job
from uncore.result import Observed, Point
from uncore.topology.layout import Box, layout
from uncore.topology.machine import Machine

STOP_WIDTH = 80.0  # width of one stop in the drawing, in SVG units
# Wires that are at least this busy get a label, if the machine has fewer wires than the maximum.
MIN_BUSY_SHOWN_PPM, MAX_WIRES_LABELLED = 5000, 100
CORE_WIDTH = 0.8 * STOP_WIDTH
MAX_LINK_WIDTH = 14.0  # additional width of a link that is always busy


def traffic(job: Job, point: Point) -> str:
    """Draws the machine. The busier a link, the wider it is; cores that run the program are
    filled.
    """
    machine, box = job.machine, layout(job.machine)
    used = {machine.core_of(hart) for hart in job.harts[: point.threads]}
    busy = _busy(machine, dict(point.links or []))
    title = f"{machine.name}: links by the part of the time in which they are busy"
    parts = [*_frames(box), *_wires(machine, box, busy), *_stops(machine, box, used)]
    parts += _busy_labels(machine, box, busy)
    view = (-0.3, 0.3, box.width + 0.6, box.height - 0.1)
    return _figure(
        "".join(parts),
        class_="machine",
        role="img",
        aria_label=title,
        viewBox=" ".join(f"{v * STOP_WIDTH:.0f}" for v in view),
        width=min(1160, round((box.width + 0.6) * STOP_WIDTH)),
    )


def _node(name: str, inside: str = "", **attributes: object) -> str:
    """Formats an SVG element; `class_` becomes class, `aria_label` aria-label; numbers are
    rounded.
    """
    shapes = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{shapes}>{inside}</{name}>"


def _text(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _figure(inside: str, **attributes: object) -> str:
    return f"<figure>{_node('svg', inside, **attributes)}</figure>"


def _title(text: str) -> str:
    return _node("title", escape(text))


def _busy(machine: Machine, busy_ppm: Mapping[str, int]) -> dict[frozenset[int], int]:
    """Returns, for each wire, how busy its busier direction is, in millionths of the time."""
    names: dict[int, str] = {}
    for link in machine.links:
        if link.channel >= 0:
            ends = f"{machine.stops[link.source]}>{machine.stops[link.target]}"
            names.setdefault(link.channel, ends)
    busy: dict[frozenset[int], int] = {}
    for link in machine.links:
        wire = frozenset((link.source, link.target))
        ppm = busy_ppm.get(names.get(link.channel, ""), 0)
        busy[wire] = max(busy.get(wire, 0), ppm)
    return busy


def _frames(box: Box) -> Iterator[str]:
    for label, (x, y), (w, h) in box.frames:
        x, y, w, h = (v * STOP_WIDTH for v in (x, y, w, h))
        yield _node("rect", class_="frame", x=x, y=y, width=w, height=h, rx=10)
        yield _node("text", escape(label), x=x + 8, y=y + 20)


def _wires(machine: Machine, box: Box, busy: dict[frozenset[int], int]) -> Iterator[str]:
    for wire, ppm in busy.items():
        names = [machine.stops[stop] for stop in sorted(wire)]
        (x1, y1), (x2, y2) = _ends(machine, box, wire)
        width, kind = (2 + MAX_LINK_WIDTH * ppm / 10**6, "wire used") if ppm else (1.5, "wire")
        title = _title(f"{' - '.join(names)}: {units.percent(ppm)}")
        yield _node("line", title, class_=kind, x1=x1, y1=y1, x2=x2, y2=y2, stroke_width=width)


def _busy_labels(machine: Machine, box: Box, busy: dict[frozenset[int], int]) -> Iterator[str]:
    """Yields the labels of busy wires. They are drawn last, above everything else."""
    for wire, ppm in busy.items():
        if ppm >= MIN_BUSY_SHOWN_PPM and len(busy) < MAX_WIRES_LABELLED:
            (x1, y1), (x2, y2) = _ends(machine, box, wire)
            position = {"x": (x1 + x2) / 2, "y": (y1 + y2) / 2 - 6}
            yield _node("text", units.percent(ppm), class_="percent", **position)


def _ends(machine: Machine, box: Box, wire: frozenset[int]) -> list[list[float]]:
    return [[v * STOP_WIDTH for v in box.points[machine.stops[stop]]] for stop in sorted(wire)]


def _stops(machine: Machine, box: Box, used: set[int]) -> Iterator[str]:
    cores_at_stop: dict[int, list[int]] = {}
    for core, stop in enumerate(machine.core_stops):
        cores_at_stop.setdefault(stop, []).append(core)
    for stop, name in enumerate(machine.stops):
        x, y = (v * STOP_WIDTH for v in box.points[name])
        if stop not in cores_at_stop:
            yield _node("circle", _title(name), class_="hub", cx=x, cy=y, r=7)
            continue
        kind = "core on" if used & set(cores_at_stop[stop]) else "core"
        corner = {"x": x - CORE_WIDTH / 2, "y": y - CORE_WIDTH / 2}
        yield _node(
            "rect", _title(name), class_=kind, **corner, width=CORE_WIDTH, height=CORE_WIDTH, rx=7
        )
        yield _node("text", " ".join(map(str, cores_at_stop[stop])), class_="label", x=x, y=y + 8)


def takings(machine: Machine, observed: Observed) -> str:
    """Draws a matrix of cores that lost lines (rows) by cores that took them (columns). The more
    often, the darker is the cell.
    """
    counts = Counter[tuple[int, int]]()
    for line in observed.lines:
        for source, target, times in line.taken:
            counts[source, target] += times
    if not counts:
        return ""
    cores = sorted({core for pair in counts for core in pair})
    position, max_count = {core: n for n, core in enumerate(cores)}, max(counts.values())
    side = max(5, min(30, 700 // len(cores)))
    size, step = side * len(cores), max(1, len(cores) * 14 // 700)
    parts = [_node("rect", class_="grid", x=0, y=0, width=size, height=size)]
    for (source, target), times in sorted(counts.items()):
        corner = {"x": position[target] * side, "y": position[source] * side}
        title = _title(f"core {target} took from core {source}: {times}")
        shade = 0.06 + 0.94 * times / max_count
        parts.append(_node("rect", title, **corner, width=side, height=side, fill_opacity=shade))
    for n, core in list(enumerate(cores))[::step]:
        middle = (n + 0.5) * side
        parts.append(_node("text", str(core), x=-6, y=middle + 4, text_anchor="end"))
        parts.append(_node("text", str(core), x=middle, y=-6, text_anchor="middle"))
    return _figure(
        "".join(parts),
        class_="matrix",
        role="img",
        aria_label="how often cores took lines from each other",
        viewBox=f"-40 -24 {size + 50} {size + 34}",
        width=size + 50,
    )
