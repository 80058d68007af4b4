"""Makes the front page of the site: it simulates two locks when it opens, and links to other pages.

    page(wasm) -> str        returns the page, which loads nothing from the network

Its engine and data are those of the playground (playground.py), for one machine and two workloads.
"""

from __future__ import annotations

from pathlib import Path

from docs.site import playground

from uncore import topology
from uncore.drawing import standalone
from uncore.drawing.standalone import filled

HERE = Path(__file__).parent / "front"
MACHINE = "graviton2"
LOCKS = {"ticket": "lock/ticket", "MCS": "lock/mcs"}
OPS = 4  # operations of each core
THREADS = (1, 2, 4, 8, 16, 32, 64)
# The animation shows SPAN ps of the measured part, after its first SKIP ps.
SKIP, SPAN = 30_000_000, 20_000_000


def page(wasm: bytes) -> str:
    machine = topology.load(MACHINE)
    data = {
        "id": MACHINE,
        "ops": OPS,
        "threads": THREADS[-1],
        "counts": THREADS,
        "skip": SKIP,
        "span": SPAN,
        "names": list(LOCKS),
        "shared": standalone.packed(playground.shared()),
        "machine": standalone.packed(playground.of_machine(machine)),
        "programs": [standalone.packed(playground.workload(name)) for name in LOCKS.values()],
        "wasm": standalone.letters(wasm),
    }
    script = "\n".join(
        [(playground.HERE / "program.js").read_text(), (HERE / "front.js").read_text()]
    )
    body = filled(
        (HERE / "front.html").read_text(),
        DATA=standalone.data(data),
        ENGINE=playground.engine(),
        MACHINE=machine.name,
        ID=MACHINE,
        OPS=str(OPS),
        LOCK="workloads/index.html",
    )
    style = (HERE / "front.css").read_text()
    return standalone.page(
        "uncore", body, style, script, runs=playground.RUNS, allowed=playground.ALLOWED
    )
