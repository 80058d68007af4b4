"""Does the state diagram show the tables, and is it legible?"""

from itertools import combinations
from xml.etree import ElementTree

import pytest
from tests.differential.jobs import SUPPORT

from uncore.drawing import protocol_diagram as diagram
from uncore.protocol.coverage import events, states
from uncore.protocol.table_shapes import JOIN_EVENTS, PROTOCOLS
from uncore.protocol.tables import load

OWN = [str(SUPPORT / "protocols/vi"), str(SUPPORT / "protocols/mosi")]
SVG = "{http://www.w3.org/2000/svg}"


def parts(tables, name, drawn=diagram.picture):
    root = ElementTree.fromstring(drawn(tables))
    return [g for g in root.iter(f"{SVG}g") if g.get("class") == name]


@pytest.mark.parametrize("name", [*PROTOCOLS, *OWN])
def test_an_arrow_stands_for_each_cell_that_changes_the_state(name):
    tables = load(name)
    client = tables.client
    expected = {
        (state, client[state, event].next, event)
        for state in states(tables)
        for event in events(tables) - {*JOIN_EVENTS}
        if client[state, event].possible and client[state, event].next not in (None, state)
    }
    drawn = {
        (arrow.get("data-from"), arrow.get("data-to"), event)
        for arrow in parts(tables, "move")
        for event in arrow.get("data-events").split()
    }
    assert drawn == expected
    assert {node.get("data-state") for node in parts(tables, "node")} == states(tables)


@pytest.mark.parametrize("name", [*PROTOCOLS, *OWN])
@pytest.mark.parametrize("size", [(diagram.WIDTH, diagram.HEIGHT), (640, 480)])
def test_labels_cover_neither_each_other_nor_a_state(name, size):
    tables = load(name)

    def drawn(tables):
        return diagram.drawing(tables, *size)

    boxes = []
    for arrow in parts(tables, "move", drawn):
        text = arrow.find(f"{SVG}text")
        x, y, half = float(text.get("x")), float(text.get("y")), 3.5 * len(text.text)
        boxes.append((x - half, y - 11, x + half, y + 3))
    for node in parts(tables, "node", drawn):
        circle = node.find(f"{SVG}circle")
        x, y, r = (float(circle.get(key)) for key in ("cx", "cy", "r"))
        boxes.append((x - r, y - r, x + r, y + r))
    for a, b in combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
    assert all(a[0] >= 0 and a[2] <= size[0] and a[3] <= size[1] for a in boxes)
