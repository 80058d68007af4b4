"""Is every text in a machine's picture complete, inside its box, and not overlapping others?"""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from uncore.report.machine_picture import CORE_SIDE_STOPS, figure_of
from uncore.support.paths import TOPOLOGIES
from uncore.topology import load
from uncore.topology.load import shipped

EXAMPLES = [str(path) for path in sorted((TOPOLOGIES / "examples").glob("*.toml"))]
SHAPES = ("bus:2", "bus:64", "ring:9", "mesh:16x8", "mesh:32x32", "ccx:32x8", "ccx:64x16")
SLACK = 0.5  # pixels that rounding may add
SLACK_STOPS = 0.01  # stops that rounding may add


def texts(figure: Figure) -> list[tuple[str, Bbox]]:
    """Returns the texts of the figure, each with its box in pixels."""
    figure.canvas.draw()
    written = figure.findobj(Text)
    return [(t.get_text(), t.get_window_extent()) for t in written if t.get_text().strip()]


def overlap(one: Bbox, other: Bbox) -> bool:
    shared = Bbox.intersection(one, other)
    return shared is not None and shared.width > SLACK and shared.height > SLACK


def inside(box: Bbox, outer: Bbox) -> bool:
    return (
        box.x0 >= outer.x0 - SLACK
        and box.y0 >= outer.y0 - SLACK
        and box.x1 <= outer.x1 + SLACK
        and box.y1 <= outer.y1 + SLACK
    )


def overlapping(boxes: list[tuple[str, Bbox]]) -> list[tuple[str, str]]:
    """Returns pairs of texts whose boxes overlap."""
    near: list[tuple[str, Bbox]] = []
    pairs = []
    for text, box in sorted(boxes, key=lambda item: item[1].x0):
        near = [(t, b) for t, b in near if b.x1 > box.x0]
        pairs += [(t, text) for t, b in near if overlap(b, box)]
        near.append((text, box))
    return pairs


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", [*shipped(), *SHAPES, *EXAMPLES])
def test_texts_of_a_picture_are_complete_and_do_not_overlap(name: str) -> None:
    figure = figure_of(load(name))
    boxes = texts(figure)
    assert [text for text, box in boxes if not inside(box, figure.bbox)] == []
    assert overlapping(boxes) == []


def test_wires_that_close_a_torus_do_not_cover_other_wires() -> None:
    """The wires that close the rows of a torus are drawn past the stops between their ends, not
    through them.
    """
    (axes,) = figure_of(load(TOPOLOGIES / "examples/torus8.toml")).axes
    # start, control point and end of each link's arc
    arcs = [p.get_path().vertices for p in axes.patches if isinstance(p, FancyArrowPatch)]
    in_a_row = [arc for arc in arcs if abs(arc[0][1] - arc[2][1]) < SLACK_STOPS]
    longest = max(abs(start[0] - end[0]) for start, _, end in in_a_row)
    bends = {
        abs(control[1] - start[1]) > SLACK_STOPS
        for start, control, end in in_a_row
        if abs(start[0] - end[0]) > longest - SLACK_STOPS
    }
    assert bends == {True}


def test_levels_in_a_picture_differ_without_colours() -> None:
    figure = figure_of(load("epyc7601x2"))
    lines = [line for line in figure.legends[0].get_lines() if line.get_linestyle() != "None"]
    assert len({str(line._dash_pattern) for line in lines}) == len(lines) == 4  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["epyc9965x2", "knl7210", "mesh:32x32", "ccx:64x16"])
def test_numbers_of_cores_stay_in_their_squares(name: str) -> None:
    figure = figure_of(load(name))
    figure.canvas.draw()
    (axes,) = figure.axes
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    squares = [
        patch.get_window_extent() for patch in patches if patch.get_width() == CORE_SIDE_STOPS
    ]
    numbers = [text for text in axes.texts if text.get_text()[:1].isdigit()]
    assert len(numbers) == len(squares) > 0
    for number, square in zip(numbers, squares, strict=True):
        assert inside(number.get_window_extent(), square), number.get_text()
