"""Describes a simulation of gem5 as data: objects with parameters, connected ports, and calls.

    document = Gem5Document("MESI_Two_Level", slice_=10**7)     slice_: ps between progress reports
    document.add("system", "System", mem_mode="timing", ruby=ref("ruby"))
    document.connect("cpu0.dcache_port", "sequencer0.in_ports")
    document.call("network.setup_buffers")
    document.written()                              builtin types only, for JSON

`sim/gem5/configuration.py`, which is copied to every run folder, makes one gem5 object of each of
these objects. Its docstring lists the values that are tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from uncore.engine.outside.homes import PAGE_BYTES, Region

Value = Any
PAGE_BITS = PAGE_BYTES.bit_length() - 1


class Gem5Document:
    def __init__(self, protocol: str, slice_: int) -> None:
        self.protocol, self.slice = protocol, slice_
        self._objects: dict[str, dict[str, Any]] = {}
        self._ports: list[list[str]] = []
        self._calls: list[list[Value]] = []

    def add(self, name: str, kind: str, **values: Value) -> str:
        """Adds an object and returns its name.

        An object is owned by the first object that refers to it, so owners are added first.
        """
        assert name not in self._objects
        self._objects[name] = {"type": kind, "values": values}
        return name

    def connect(self, a: str, b: str) -> None:
        """Connects two ports."""
        self._ports.append([a, b])

    def call(self, path: str, *arguments: Value) -> None:
        """Makes the configuration call a method of gem5, by `name.method`, once all objects
        exist.
        """
        self._calls.append([path, *arguments])

    def written(self) -> dict[str, Any]:
        """Returns the contents of system.json."""
        return {
            "protocol": self.protocol,
            "slice": self.slice,
            "objects": self._objects,
            "ports": self._ports,
            "calls": self._calls,
        }


def ref(name: str) -> Value:
    """Refers to an object of the document."""
    return {"object": name}


def refs(names: Iterable[str]) -> Value:
    """Refers to several objects."""
    return [ref(name) for name in names]


def at(path: str) -> Value:
    """Refers to `name.attribute`: a port to connect with, or a part that gem5 has made."""
    return {"at": path}


def new(kind: str, **values: Value) -> Value:
    """Describes an object without a name."""
    return {"new": kind, "values": values}


def file(name: str) -> Value:
    """Refers to a file of the run folder."""
    return {"file": name}


def newer(value: Value) -> Value:
    """Wraps a parameter that older versions of gem5 lack."""
    return {"newer": value}


def addresses(start: int, size: int, masks: Iterable[int] = (), index: int = 0) -> Value:
    """Describes the addresses from `start` on whose interleaving number is `index`. Bit k of an
    address's number is the parity of the address's bits that are in masks[k].
    """
    range_: dict[str, Any] = {"start": start, "size": size}
    if masks := list(masks):
        range_ |= {"masks": masks, "intlvMatch": index}
    return {"range": range_}


def region(home: Region, lowest_bit: int = 0, num_shares: int = 1, share_index: int = 0) -> Value:
    """Describes the addresses of a memory node, or a share of them: every `num_shares`-th block of
    2^lowest_bit bytes.

    `home.num_nodes` and `num_shares` are powers of two.
    """
    pages, blocks = home.num_nodes.bit_length() - 1, num_shares.bit_length() - 1
    masks = [1 << PAGE_BITS + bit for bit in range(pages)]
    masks += [1 << lowest_bit + bit for bit in range(blocks)]
    return addresses(home.start, home.size, masks, home.node_index | share_index << pages)
