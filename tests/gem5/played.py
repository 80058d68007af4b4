"""Imitates gem5's Python modules, from the declarations of a version's sources (the folder
declared).

    played = Played("24.0.0.1")         a version whose declarations are here
    played.run(folder / "configuration.py")
    played.objects, .calls              the objects in order of creation; the methods called on each

An object accepts only parameters, ports and parts that are declared for its type, with values of
the declared kinds; anything else raises an error at once.  When gem5 would instantiate the objects,
all required parameters must be set, all ports connected, and every object owned by another one.
The behaviour of objects is not imitated.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

DECLARATIONS = Path(__file__).parent / "declared"
VERSIONS = sorted(path.stem for path in DECLARATIONS.glob("*.json"))

WHOLE_NUMBER_KINDS = set(
    "Int Int32 UInt8 UInt32 UInt64 Unsigned Cycles Addr Tick Counter HostSocket".split()
)
TEXT_KINDS = set("String Latency Clock Frequency Voltage MemorySize MemoryBandwidth Time".split())
# Attributes that are objects but not parameters, by type; the engine for gem5 uses these names.
PARTS = {
    "Root": {"system"},
    "System": set("ruby platform iobus loader cpu code memory core_clock clk_domain".split()),
    "RubySystem": {"network", "controller"},
    "HiFive": {"rtc"},
}
# Ports that may stay unconnected (gem5's C++ checks whether they are connected).
OPTIONAL_PORTS = {
    "BaseCPU": {"model_reset", "cpu_idle_pins"},
    "BaseTLB": {"cpu_side_ports", "mem_side_port"},  # ports of other instruction sets
    "BaseXBar": {"default"},
    "Clint": {"reset"},
    "MessageBuffer": {"in_port", "out_port"},  # JOINS declares which buffers join the network
    "RubyController": {"memory_out_port"},
    "RubyPort": {"interrupt_out_port"},
    "RubyPortProxy": {"mem_request_port", "pio_response_port"},
}
REQUIRED_PORTS = {
    "Directory_Controller": {"memory_out_port"},
    "Memory_Controller": {"memory_out_port"},
}
NETWORK_PORTS = {"To": "out_port", "From": "in_port"}


class Port:
    """A reference to an object's port; assigning one port to another connects both."""

    def __init__(self, owner: SimObject, name: str) -> None:
        self.owner, self.name, self.role = owner, name, owner.merged("ports")[name]

    def connect(self, other: object) -> None:
        if not isinstance(other, Port):
            raise TypeError(f"{self} is set to {other!r}: not a port")
        if {_side(self.role), _side(other.role)} not in (
            {"Request", "Response"},
            {"Source", "Sink"},
        ):
            raise TypeError(f"{self} and {other} do not fit: {self.role}, {other.role}")
        for port, peer in ((self, other), (other, self)):
            peers = port.owner.peers.setdefault(port.name, [])
            if peers and not port.role.startswith("Vector"):
                raise ValueError(f"{port} is connected already")
            peers.append(peer)

    def __str__(self) -> str:
        return f"{self.owner.name}.{self.name}"


def _side(role: str) -> str:
    return next(side for side in ("Request", "Response", "Source", "Sink") if side in role)


class AddrRange:
    def __init__(
        self, start: int, size: int, masks: Iterable[int] = (), intlvMatch: int = 0
    ) -> None:
        masks = list(masks)
        assert size > 0 and start >= 0 and 0 <= intlvMatch < 1 << len(masks)


class SimObject:
    """Base of gem5's objects. Each declared type is a subclass with its declaration in `own`."""

    own: dict[str, Any]
    played: Played
    _params: dict[str, str]  # parameters of the object, under the name that gem5 uses

    def __init__(self, made_with: Iterable[str] = ()) -> None:
        self.__dict__.update(
            values={}, peers={}, given=set(made_with), name=type(self).__name__, owner=None
        )

    @classmethod
    @cache
    def merged(cls, part: str) -> Any:
        """Returns the declarations of the type and its bases."""
        merged: dict[str, str] = {}
        for base in reversed(cls.__mro__):
            merged |= base.__dict__.get("own", {}).get(part, {})
        return merged

    def __getattr__(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        if name in self.merged("ports"):
            return Port(self, name)
        if name in self.merged("methods"):
            return lambda *arguments: self._call(name)
        if name in self.merged("objects"):
            kind, *made_with = self.merged("objects")[name].split()
            self.values[name] = self._own(name, self.played.types[kind](made_with))
            return self.values[name]
        raise AttributeError(f"{self.name}: {type(self).__name__} has no {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        params = self.merged("params")
        if name in self.merged("ports"):
            return Port(self, name).connect(value)
        if name in params:
            self._check(name, params[name], value)
        elif name not in PARTS.get(type(self).__name__, ()):
            raise AttributeError(f"{self.name}: {type(self).__name__} has no parameter {name}")
        self.values[name] = self._own(name, value)

    def _call(self, method: str) -> None:
        self.played.calls.append(method)
        for path in self.merged("methods")[method]:
            *way, last = path.split(".")
            owner = self
            for step in way:
                owner = getattr(owner, step)
            owner.given.add(last)

    def _own(self, name: str, value: Any) -> Any:
        """Makes this object the owner of objects that have none yet."""
        for number, part in enumerate(_several(value)):
            if isinstance(part, SimObject) and part.owner is None and part is not self:
                number_ = str(number) if isinstance(value, list) else ""
                part.__dict__.update(owner=self, name=f"{self.name}.{name}{number_}")
        return value

    def _check(self, name: str, declared: str, value: Any) -> None:
        kind = declared.rstrip("!")
        if isinstance(value, list) and not kind.endswith("*"):
            raise TypeError(f"{self.name}.{name}: several values for one {kind}")
        for one in _several(value):
            if not self.played.fits(kind.rstrip("*"), one):
                raise TypeError(f"{self.name}.{name}: {one!r} is no {kind}")

    # ---- when gem5 instantiates the objects

    def parts(self) -> Iterator[SimObject]:
        """Yields the objects that belong to this one, including default ones."""
        for name in self.merged("objects"):
            if name not in self.given:
                getattr(self, name)
        for value in self.values.values():
            yield from (
                part
                for part in _several(value)
                if isinstance(part, SimObject) and part.owner is self
            )

    def lacks(self) -> Iterator[str]:
        """Yields a message for everything that keeps gem5 from instantiating the object."""
        sets = {name for base in type(self).__mro__ for name in _own_sets(base)}
        for name, kind in self.merged("params").items():
            if kind.endswith("!") and not {name} & (self.values.keys() | self.given | sets):
                yield f"{self.name}.{name} is required and not set"
            if joins := NETWORK_PORTS.get(kind.rstrip("!").rpartition(":")[2]):
                buffer = self.values.get(name)
                if buffer is not None and joins not in buffer.peers:
                    yield f"{self.name}.{name}.{joins} is not connected"
        names = [base.__name__ for base in type(self).__mro__]
        may = {
            port for name in names for port in OPTIONAL_PORTS.get(name, ())
        } - REQUIRED_PORTS.get(names[0], set())
        for port in self.merged("ports").keys() - may:
            if port not in self.peers:
                yield f"{self.name}.{port} is not connected"


def event(cause: str) -> SimpleNamespace:
    return SimpleNamespace(getCause=lambda: cause, getCode=lambda: 0)


def _own_sets(base: type) -> Iterable[str]:
    sets: Iterable[str] = base.__dict__.get("own", {}).get("sets", ())
    return sets


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@cache
def _declared(version: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((DECLARATIONS / f"{version}.json").read_text())
    return document


class Played:
    """The modules m5, m5.objects, m5.params and _m5.core.

    `long`: the names of controllers begin with that of their protocol, as they do since 24.1.
    """

    def __init__(self, version: str, long: bool = False) -> None:
        self.long = long
        self.enums: dict[str, list[str]] = _declared(version)["enums"]
        self.declared: dict[str, Any] = _declared(version)["types"]
        self.types: dict[str, type[SimObject]] = {}
        self.objects: list[SimObject] = []
        self.calls: list[str] = []

    def run(self, script: Path) -> None:
        m5, objects, params = (ModuleType(name) for name in ("m5", "m5.objects", "m5.params"))
        protocol = json.loads(script.with_name("system.json").read_text())["protocol"]
        vars(objects).update(self._types(protocol))
        slices = iter(["simulate() limit reached", "the end"])
        vars(m5).update(
            objects=objects,
            instantiate=self.instantiate,
            simulate=lambda ticks: event(next(slices)),
            curTick=lambda: 5,
        )
        vars(params).update(AddrRange=AddrRange, NULL=None)
        core = ModuleType("_m5.core")
        vars(core).update(setLogLevel=lambda level: None, LogLevel=SimpleNamespace(WARN=2))
        own = ModuleType("_m5")
        vars(own).update(core=core)
        with pytest.MonkeyPatch.context() as patch:
            for module in (m5, objects, params, own, core):
                patch.setitem(sys.modules, module.__name__, module)
            runpy.run_path(str(script))
        assert script.with_name("progress.txt").read_text() == "5\n"

    def instantiate(self) -> None:
        (root,) = [made for made in self.objects if type(made).__name__ == "Root"]
        waiting, lacks, reached = [root], list[str](), set[int]()
        while waiting:
            made = waiting.pop()
            reached.add(id(made))
            lacks += made.lacks()
            waiting += made.parts()
        lacks += [
            f"{made.name} belongs to nothing" for made in self.objects if id(made) not in reached
        ]
        if lacks:
            raise RuntimeError("\n".join(lacks))

    def fits(self, kind: str, value: object) -> bool:
        """True if gem5 accepts this value for a parameter of the kind."""
        kind = kind.partition(":")[0]
        if kind in WHOLE_NUMBER_KINDS:
            return type(value) is int
        if kind == "Bool":
            return type(value) is bool
        if kind in TEXT_KINDS:
            return isinstance(value, str)
        if kind == "AddrRange":
            return isinstance(value, AddrRange)
        if kind in self.enums:
            return value in self.enums[kind]
        return value is None or any(base.__name__ == kind for base in type(value).__mro__)

    def _types(self, protocol: str) -> dict[str, type[SimObject]]:
        """Returns the contents of m5.objects in a build with one protocol."""
        named = {}
        for name in self.declared:
            of, _, short = name.rpartition(":")
            if of in ("", protocol):
                full = f"{of}_{short}" if of and self.long else short
                named[full] = self.types[short] = self._type(name, short)
        return named

    def _type(self, name: str, short: str) -> type[SimObject]:
        if short not in self.types:
            own = self.declared[name]
            bases = tuple(self._type(base, base) for base in own["bases"])
            self.types[short] = type(
                short,
                bases or (SimObject,),
                {"own": own, "played": self, "__init__": _making(self)},
            )
            self.types[short]._params = self.types[short].merged("params")
        return self.types[short]


def _making(played: Played) -> Any:
    def made(self: SimObject, made_with: Iterable[str] = ()) -> None:
        SimObject.__init__(self, made_with)
        played.objects.append(self)

    return made
