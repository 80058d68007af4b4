"""Makes a machine with two levels of resolvers, similar to that of line.py.

Cores 0 and 1 at A and core 2 at H are below a join at H.  Core 3 is outside the join, at B, with
the root resolver and the memory.
"""

from __future__ import annotations

import dataclasses

from tests.support.line import HOME, KEPT, NODE, A, B, H, line

from uncore.topology import Machine

JOIN, ROOT = 4, 5  # agents


def levels(data: str = "none", protocol: str = "") -> Machine:
    """Makes the machine. `data` is the kind of data store of the join."""
    store = dict(KEPT, data=data) if data != "none" else {}
    join = dataclasses.replace(
        HOME, name="join", level="ccx", knows="shadow-tags", children=(0, 1, 2),
        parents=(ROOT,), **store,
    )  # fmt: skip
    root = dataclasses.replace(HOME, children=(JOIN, 3), slices=(B,))
    return line(
        core_stops=(A, A, H, B),
        levels=("ccx", "core", "thread"),
        shape=((0, 0), (0, 1), (0, 2), (1, 3)),
        resolvers=(join, root),
        memories=(dataclasses.replace(NODE, stop=B),),
        # In protocols without the state O, a join may have to keep dirty data.
        protocol=protocol or ("moesi" if data == "none" else "mesi"),
    )
