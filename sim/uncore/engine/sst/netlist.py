"""Describes a simulation of SST as data: components, the subcomponents in their slots, links, and
statistics.

    netlist = Netlist()
    cache = netlist.component("l1_0", "memHierarchy.Cache", {...}, part=0)
    nic = netlist.slot(cache, "lowlink", "memHierarchy.MemNIC", {...})
    netlist.link((nic, "port", 100), (router, "port3", 100))
    netlist.document()                          builtin types only, for JSON

`configuration.py`, which is copied to every run folder, makes one SST object of each object of the
document and decides nothing.  A part is the unit that SST may give to another thread or process.
Parts wait for each other as often as the shortest link between them requires, so components joined
by short links form one part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Params = Mapping[str, object]
SHORT_LINK_PS = 100  # the components at the ends of a shorter link form one part
# path of a component or slot, its port, latency in ps in the direction away from it
End = tuple[str, str, int]


class Netlist:
    def __init__(self) -> None:
        self._objects: dict[str, dict[str, Any]] = {}
        self._links: list[dict[str, Any]] = []
        self._statistics: list[dict[str, Any]] = []

    def component(self, name: str, kind: str, params: Params, part: int) -> str:
        """Adds a component and returns its path, which is its name."""
        self._objects[name] = {"path": name, "type": kind, "params": _texts(params), "part": part}
        return name

    def part(self, path: str) -> int:
        """Returns the part of a component."""
        part: int = self._objects[path]["part"]
        return part

    def slot(self, owner: str, slot: str, kind: str, params: Params) -> str:
        """Fills a slot and returns its path: the owner's path and the slot."""
        path = f"{owner}/{slot}"
        self._objects[path] = {"path": path, "type": kind, "params": _texts(params)}
        return path

    def link(self, a: End, b: End) -> None:
        """Adds a link; a latency below 1 ps, which SST does not allow, becomes 1 ps."""
        ends = [[path, port, max(latency, 1)] for path, port, latency in (a, b)]
        self._links.append({"ends": ends})

    def count(self, path: str, *names: str) -> None:
        """Selects statistics to be written to statistics.csv."""
        self._statistics.append({"path": path, "names": list(names)})

    def document(self) -> dict[str, Any]:
        parts = self._parts()
        return {
            "objects": [
                component | {"part": parts[path]} if "part" in component else component
                for path, component in self._objects.items()
            ],
            "links": self._links,
            "statistics": self._statistics,
        }

    def _parts(self) -> dict[str, int]:
        """Returns each component's part: the lowest part of all components that short links join to
        it. The groups are found with disjoint sets.
        """
        root = {path: path for path, component in self._objects.items() if "part" in component}

        def find(path: str) -> str:
            while root[path] != path:
                root[path] = root[root[path]]
                path = root[path]
            return path

        for link in self._links:
            a, b = (find(path.partition("/")[0]) for path, _, _ in link["ends"])
            if min(latency for _, _, latency in link["ends"]) < SHORT_LINK_PS:
                first, second = sorted((a, b), key=self.part)
                root[second] = first
        return {path: self.part(find(path)) for path in root}


def _texts(params: Params) -> dict[str, Any]:
    """Formats parameters for SST: bools as 0 and 1, lists unchanged."""
    return {
        name: value
        if isinstance(value, list)
        else str(int(value))
        if isinstance(value, bool)
        else str(value)
        for name, value in params.items()
    }
