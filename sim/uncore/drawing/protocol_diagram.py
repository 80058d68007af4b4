"""Draws the state diagram of a protocol from its client table.

    state_changes(tables) -> [StateChange]      each reachable cell that leads to another state
    drawing(tables, width, height) -> SVG       states in a ring, with an arrow for each change
    picture(tables) -> SVG                      a complete file, with colours and a legend

States are on an ellipse, so arrows cannot cross them; their order is chosen so that few arrows
cross each other. Events have the names of the textbook (Sorin, Hill, Wood: A Primer on Memory
Consistency and Cache Coherence); TEXTBOOK maps our names to these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import combinations
from math import cos, hypot, pi, sin
from typing import NamedTuple

from uncore.protocol import coverage
from uncore.protocol.states import StateProperties, request_of
from uncore.protocol.table_shapes import JOIN_EVENTS
from uncore.protocol.tables import Tables
from uncore.support.output_kinds import MAKER

TEXTBOOK = {"ProbeS": "Fwd-GetS", "ProbeM": "Fwd-GetM", "PutAck": "Put-Ack", "Evict": "Replacement"}
WIDTH, HEIGHT = 860, 620
LEGEND_HEIGHT = 44  # height of the legend, at the top
STATE_RADIUS = 25  # radius of a state's circle
# distance of an arrow from the straight line, which keeps the arrows of both directions apart
ARROW_BEND = 16
LABEL_LETTER_WIDTH, LABEL_LINE_HEIGHT = 7.2, 15  # of a label with letters of 12 px
# Positions of a label along its arrow, as shares, in the order in which they are tried.
LABEL_POSITIONS = (0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75, 0.18, 0.82)
# Vertical distances of a label from its arrow, in the order in which they are tried.
LABEL_OFFSETS = (0, 14, -14, 28, -28, 42, -42, 56, -56, 70, -70, 84, -84)

Point = tuple[float, float]
Box = tuple[float, float, float, float]


class StateChange(NamedTuple):
    """One cell of the client table that changes the state of a line."""

    state: str
    event: str
    textbook: str
    does: str  # the cell's text in the table
    next: str


def state_changes(tables: Tables) -> list[StateChange]:
    reachable, events = coverage.states(tables), coverage.events(tables).difference(JOIN_EVENTS)
    return [
        StateChange(row, column, textbook(column), cell.text, cell.next)
        for (row, column), cell in tables.client.cells.items()
        if cell.possible and cell.next not in (None, row) and row in reachable and column in events
    ]


def textbook(event: str) -> str:
    return TEXTBOOK.get(event) or (f"Data {event[4:]}" if event.startswith("Data") else event)


def drawing(
    tables: Tables, width: int = WIDTH, height: int = HEIGHT, avoid_overlap: bool = True
) -> str:
    """Draws the diagram.  With `avoid_overlap`, labels do not cover each other; otherwise each
    label is at the best place for its arrow.
    """
    places = _places(tables, width, height)
    body = [*_arrows(tables, places, (width, height), avoid_overlap), *_states(tables, places)]
    view = f'viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view}>{"".join(body)}</svg>'


def picture(tables: Tables) -> str:
    words = ", ".join(f"{book_name} is our {name}" for name, book_name in TEXTBOOK.items())
    notes = (
        f"{tables.name.upper()}: a line's states in a core's caches; event / request that is sent",
        f"D waits for data, A for Put-Ack; {words}",
    )
    texts = "".join(
        f'<text class="note" x="12" y="{20 + 18 * n}">{escape(note)}</text>'
        for n, note in enumerate(notes)
    )
    return (
        drawing(tables)
        .replace(">", f"><metadata>{MAKER}</metadata><style>{STYLE}</style>", 1)
        .replace("</svg>", f"{texts}</svg>")
    )


STYLE = """
svg { font-family: system-ui, "DejaVu Sans", sans-serif; background: #fff }
path { fill: none; stroke: #57606a; stroke-width: 1.4 } .head { fill: #57606a; stroke: none }
circle { stroke: #57606a; stroke-width: 1.4; fill: #fff } .transient { stroke-dasharray: 5 3 }
text { text-anchor: middle; fill: #1c2128; font-size: 12px } .note { text-anchor: start }
.move text { paint-order: stroke; stroke: #fff; stroke-width: 4px }
.name { font-size: 17px; font-weight: 700 } .copy + .name { fill: #fff }
.modified { fill: #b8410a } .exclusive { fill: #8f5c00 } .owned { fill: #a4477c }
.forwarding { fill: #0867a8 } .shared { fill: #00775a }
"""


# ---- Positions of states -------------------------------------------------------------------------


def _places(tables: Tables, width: int, height: int) -> dict[str, Point]:
    """Places states on an ellipse; the first row of the table, the state without a copy, is at the
    bottom.
    """
    used = {state for move in state_changes(tables) for state in (move.state, move.next)}
    order = _order([state for state in tables.client.rows if state in used], _pairs(tables))
    places = {}
    for number, state in enumerate(order):
        angle = pi / 2 + 2 * pi * number / len(order)
        x = width * (0.5 + 0.42 * cos(angle))
        places[state] = (x, height * (0.52 + 0.4 * sin(angle)))
    return places


def _pairs(tables: Tables) -> list[tuple[str, str]]:
    return sorted({(min(m.state, m.next), max(m.state, m.next)) for m in state_changes(tables)})


def _order(states: list[str], pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Swaps pairs of states as long as that reduces the number of crossings or, if it stays equal,
    the length of the arrows.
    """
    best_order, cost = states, _cost(states, pairs)
    is_better = True
    while is_better:
        is_better = False
        for i, j in combinations(range(1, len(states)), 2):
            candidate = [*best_order]
            candidate[i], candidate[j] = candidate[j], candidate[i]
            if (candidate_cost := _cost(candidate, pairs)) < cost:
                best_order, cost, is_better = candidate, candidate_cost, True
    return best_order


def _cost(order: Sequence[str], pairs: Sequence[tuple[str, str]]) -> tuple[int, int]:
    position_of = {state: number for number, state in enumerate(order)}
    spans = [sorted((position_of[a], position_of[b])) for a, b in pairs]
    crossings = sum(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(spans, 2))
    return crossings, sum(min(b - a, len(order) - b + a) for a, b in spans)


# ---- Drawing -------------------------------------------------------------------------------------


def _states(tables: Tables, places: dict[str, Point]) -> Iterator[str]:
    properties = StateProperties(tables)
    for state, (x, y) in places.items():
        role, waits = properties.role(state), properties.is_transient(state)
        classes = f"{'copy ' * properties.holds_copy(state)}{role}{' transient' * waits}"
        above = "D" if properties.waits_for_grant(state) else "A" if waits else ""
        small = f'<tspan dy="-6" font-size="11">{above}</tspan>' if above else ""
        yield (
            f'<g class="node" data-state="{escape(state)}">'
            f'<circle class="{classes}" cx="{x:.1f}" cy="{y:.1f}" r="{STATE_RADIUS}"/>'
            f'<text class="name" x="{x:.1f}" y="{y + 6:.1f}">{escape(state)}{small}</text></g>'
        )


def _arrows(
    tables: Tables, places: dict[str, Point], size: Point, avoid_overlap: bool
) -> Iterator[str]:
    moves_between: dict[tuple[str, str], list[StateChange]] = {}
    for move in state_changes(tables):
        moves_between.setdefault((move.state, move.next), []).append(move)
    margin = STATE_RADIUS + 4
    covered = [(x - margin, y - margin, x + margin, y + margin) for x, y in places.values()]
    covered += [(0, 0, size[0], LEGEND_HEIGHT)] * avoid_overlap
    for (source, target), pair_moves in moves_between.items():
        start, bend, end = _curve(places[source], places[target])
        label = ", ".join(dict.fromkeys(_label(tables, move) for move in pair_moves))
        label_point, box = _label_placement(covered, size, (start, bend, end), label)
        covered += [box] * avoid_overlap
        about = "\n".join(f"{move.event}: {move.does}" for move in pair_moves)
        events = " ".join(move.event for move in pair_moves)
        yield (
            f'<g class="move" data-from="{escape(source)}" data-to="{escape(target)}"'
            f' data-events="{escape(events)}"><title>{escape(about)}</title>'
            f'<path d="M{_coordinates(start)}Q{_coordinates(bend)} {_coordinates(end)}"/>'
            f"{_head(bend, end)}"
            f'<text x="{label_point[0]:.1f}" y="{label_point[1]:.1f}">{escape(label)}</text></g>'
        )


def _label(tables: Tables, move: StateChange) -> str:
    cell = tables.client[move.state, move.event]
    request = request_of(cell) or ("Put" if "Put" in cell.actions else "")
    return f"{move.textbook} / {request}" if request else move.textbook


def _curve(source: Point, target: Point) -> tuple[Point, Point, Point]:
    """Returns the start, control point and end of an arrow from the edge of one state to the edge
    of the other, bent to the right.
    """
    (ax, ay), (bx, by) = source, target
    length = hypot(bx - ax, by - ay)
    ux, uy = (bx - ax) / length, (by - ay) / length
    aside = (-uy * ARROW_BEND / 2, ux * ARROW_BEND / 2)
    start = (ax + STATE_RADIUS * ux + aside[0], ay + STATE_RADIUS * uy + aside[1])
    end = (bx - (STATE_RADIUS + 3) * ux + aside[0], by - (STATE_RADIUS + 3) * uy + aside[1])
    bend = ((ax + bx) / 2 - uy * ARROW_BEND * 1.6, (ay + by) / 2 + ux * ARROW_BEND * 1.6)
    return start, bend, end


def _head(bend: Point, end: Point) -> str:
    length = hypot(end[0] - bend[0], end[1] - bend[1])
    ux, uy = (end[0] - bend[0]) / length, (end[1] - bend[1]) / length
    corners = [end] + [
        (end[0] - 10 * ux - side * 4 * uy, end[1] - 10 * uy + side * 4 * ux) for side in (1, -1)
    ]
    return f'<path class="head" d="M{"L".join(map(_coordinates, corners))}Z"/>'


def _label_placement(
    covered: list[Box], size: Point, curve: tuple[Point, Point, Point], label: str
) -> tuple[Point, Box]:
    """Returns the position of a label at an arrow, and the box that it covers.

    It is the first candidate that overlaps nothing, or the first of all if each overlaps something.
    """
    half = LABEL_LETTER_WIDTH * len(label) / 2
    candidates = [
        _label_at(*curve, share, offset) for offset in LABEL_OFFSETS for share in LABEL_POSITIONS
    ]
    boxes = [(x - half, y - LABEL_LINE_HEIGHT + 3, x + half, y + 3) for x, y in candidates]
    places = list(zip(candidates, boxes, strict=True))
    free_placements = (
        placement
        for placement in places
        if _inside(placement[1], size) and not _overlaps_any(placement[1], covered)
    )
    return next(free_placements, places[0])


def _label_at(start: Point, bend: Point, end: Point, share: float, offset: float) -> Point:
    remaining = 1 - share
    x, y = (
        remaining * remaining * a + 2 * remaining * share * b + share * share * c
        for a, b, c in zip(start, bend, end, strict=True)
    )
    return x, y + 4 + offset


def _inside(box: Box, size: Point) -> bool:
    return box[0] >= 0 and box[2] <= size[0] and box[1] >= 0 and box[3] <= size[1]


def _overlaps_any(box: Box, others: Sequence[Box]) -> bool:
    return any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in others)


def _coordinates(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
