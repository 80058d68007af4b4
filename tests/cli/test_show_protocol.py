"""Does `uncore show` print the transitions of a protocol, and the links of a machine?"""

import json
import re
from pathlib import Path

from tests.differential.jobs import SUPPORT

from uncore.drawing import protocol_diagram as diagram
from uncore.protocol.tables import load

USERS_PROTOCOL = str(SUPPORT / "protocols/vi")


def test_transitions_of_a_protocol_are_printed_and_drawn(uncore):
    shown = uncore("show", USERS_PROTOCOL, "--json")
    assert [row["next"] for row in json.loads(shown.out)] == [
        move.next for move in diagram.state_changes(load(USERS_PROTOCOL))
    ]
    assert "Fwd-GetM" in uncore("show", "moesi", "--plot", "m.svg").out
    assert len(re.findall('class="node"', Path("m.svg").read_text())) == 11


def test_option_picture_of_a_protocol_refuses_formats_other_than_svg(uncore):
    refused = uncore("show", "mesi", "--plot", "m.png")
    assert refused.status == 2 and "expected a name ending in .svg" in refused.err
    assert not refused.out


def test_options_for_machines_are_refused_for_a_protocol(uncore):
    refused = uncore("show", "mesi", "--keys")
    assert refused.status == 2 and "of machines" in refused.err


def test_links_of_a_machine_are_printed_with_their_bisection(uncore):
    printed = uncore("show", "mesh:2x2", "--links").out
    assert re.search(r"system +8 +64 +8 +512\n", printed)
    assert "bisection: 128 GB/s from one half of the cores to the other" in printed
    mesh, ports = json.loads(uncore("show", "mesh:2x2", "--links", "--json").out)
    assert mesh == {"level": "system", "links": 8, "width": 64, "length": 8, "wire": 512}
    assert (ports["links"], ports["width"], ports["wire"]) == (8, None, None)
    assert "--links: one table" in uncore("show", "bus:2", "--links", "--keys").err
