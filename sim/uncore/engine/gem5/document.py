"""A simulation of gem5 as data: objects with their parameters, connected ports, calls.

    document = Gem5Document("MESI_Two_Level", slice_=10**7)     ps between two reports of progress
    document.add("system", "System", mem_mode="timing", ruby=ref("ruby"))
    document.connect("cpu0.dcache_port", "sequencer0.in_ports")
    document.call("network.setup_buffers")
    document.written()                              builtin types only, for JSON

`sim/gem5/configuration.py`, which travels with every run folder, makes gem5's objects of it, one
for one, and says what a value that is a table means.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from uncore.engine.outside.homes import PAGE, Region

Value = Any
PAGE_BITS = PAGE.bit_length() - 1


class Gem5Document:
    def __init__(self, protocol: str, slice_: int) -> None:
        self.protocol, self.slice = protocol, slice_
        self._objects: dict[str, dict[str, Any]] = {}
        self._ports: list[list[str]] = []
        self._calls: list[list[Value]] = []

    def add(self, name: str, kind: str, **values: Value) -> str:
        """Its name.  Owners first: an object belongs to the first one that names it."""
        assert name not in self._objects
        self._objects[name] = {"type": kind, "values": values}
        return name

    def connect(self, a: str, b: str) -> None:
        """Two ports."""
        self._ports.append([a, b])

    def call(self, path: str, *arguments: Value) -> None:
        """A method of gem5's own that completes an object."""
        self._calls.append([path, *arguments])

    def written(self) -> dict[str, Any]:
        """The contents of system.json."""
        return {
            "protocol": self.protocol,
            "slice": self.slice,
            "objects": self._objects,
            "ports": self._ports,
            "calls": self._calls,
        }


def ref(name: str) -> Value:
    """An object of the document."""
    return {"object": name}


def refs(names: Iterable[str]) -> Value:
    """Several."""
    return [ref(name) for name in names]


def at(path: str) -> Value:
    """`name.attribute`: a port, to be connected with, or a part that gem5 has made."""
    return {"at": path}


def new(kind: str, **values: Value) -> Value:
    """An object without a name."""
    return {"new": kind, "values": values}


def file(name: str) -> Value:
    """One of the run folder."""
    return {"file": name}


def newer(value: Value) -> Value:
    """A parameter that not every gem5 has."""
    return {"newer": value}


def addresses(start: int, size: int, masks: Iterable[int] = (), turn: int = 0) -> Value:
    """From `start`; bit k of an address' turn is the parity of its bits in masks[k]."""
    range_: dict[str, Any] = {"start": start, "size": size}
    if masks := list(masks):
        range_ |= {"masks": masks, "intlvMatch": turn}
    return {"range": range_}


def region(home: Region, lowest: int = 0, shares: int = 1, turn: int = 0) -> Value:
    """Addresses of a memory node, or of one share of it: every `shares`-th block of 2^lowest bytes.
    Both numbers of shares are powers of two."""
    pages, blocks = home.shares.bit_length() - 1, shares.bit_length() - 1
    masks = [1 << PAGE_BITS + bit for bit in range(pages)]
    masks += [1 << lowest + bit for bit in range(blocks)]
    return addresses(home.start, home.size, masks, home.turn | turn << pages)
