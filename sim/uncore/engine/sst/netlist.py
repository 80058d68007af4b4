"""A simulation of SST as data: components, what fills their slots, links, statistics.

    netlist = Netlist()
    cache = netlist.component("l1_0", "memHierarchy.Cache", {...}, part=0)
    nic = netlist.slot(cache, "lowlink", "memHierarchy.MemNIC", {...})
    netlist.link((nic, "port", 100), (router, "port3", 100))
    netlist.document()                          builtin types only, for JSON

`configuration.py`, which travels with every run folder, makes SST objects of the document, one for
one: nothing is decided there.  A part is what may go to another thread or process of SST.  Those
wait for each other as often as the shortest link between them wants, so what hangs together by
short links becomes one part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Params = Mapping[str, object]
SHORT = 100  # ps
End = tuple[str, str, int]  # path of a component or slot, port, latency in ps of what it sends


class Netlist:
    def __init__(self) -> None:
        self._objects: dict[str, dict[str, Any]] = {}
        self._links: list[dict[str, Any]] = []
        self._statistics: list[dict[str, Any]] = []

    def component(self, name: str, kind: str, params: Params, part: int) -> str:
        """Its path, which is its name."""
        self._objects[name] = {"path": name, "type": kind, "params": _texts(params), "part": part}
        return name

    def part(self, path: str) -> int:
        """The part of a component."""
        part: int = self._objects[path]["part"]
        return part

    def slot(self, owner: str, slot: str, kind: str, params: Params) -> str:
        """Its path: the owner's and the slot."""
        path = f"{owner}/{slot}"
        self._objects[path] = {"path": path, "type": kind, "params": _texts(params)}
        return path

    def link(self, a: End, b: End) -> None:
        """A link of SST has no latency of 0."""
        ends = [[path, port, max(latency, 1)] for path, port, latency in (a, b)]
        self._links.append({"ends": ends})

    def count(self, path: str, *names: str) -> None:
        """Statistics that are written to statistics.csv."""
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
        """Each component's part: the least of those that short links join (Tarjan's sets)."""
        root = {path: path for path, component in self._objects.items() if "part" in component}

        def find(path: str) -> str:
            while root[path] != path:
                root[path] = root[root[path]]
                path = root[path]
            return path

        for link in self._links:
            a, b = (find(path.partition("/")[0]) for path, _, _ in link["ends"])
            if min(latency for _, _, latency in link["ends"]) < SHORT:
                first, second = sorted((a, b), key=self.part)
                root[second] = first
        return {path: self.part(find(path)) for path in root}


def _texts(params: Params) -> dict[str, Any]:
    """Parameters as SST reads them: truth as 0 and 1, lists as they are."""
    return {
        name: value
        if isinstance(value, list)
        else str(int(value))
        if isinstance(value, bool)
        else str(value)
        for name, value in params.items()
    }
