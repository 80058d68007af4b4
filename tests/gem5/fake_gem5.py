"""Imitates gem5's Python modules, from the declarations of a version's sources (the folder
declared).

    fake = FakeGem5("24.0.0.1")         a version whose declarations are here
    fake.run(folder / "configuration.py")
    fake.objects, .calls                the objects in order of creation; the methods called on each

An object accepts only parameters, ports and parts that are declared for its type, with values of
the declared kinds; anything else raises an error at once. When gem5 would instantiate the objects,
all required parameters must be set, all ports must be connected, and every object must have an
owner. The behaviour of objects is not imitated.
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
# For each type, attributes that are objects but not parameters. The engine for gem5 uses these
# names.
PARTS = {
    "Root": {"system"},
    "System": set("ruby platform iobus loader cpu code memory core_clock clk_domain".split()),
    "RubySystem": {"network", "controller"},
    "HiFive": {"rtc"},
}
# For each type, ports that may remain unconnected (gem5's C++ checks them).
OPTIONAL_PORTS = {
    "BaseCPU": {"model_reset", "cpu_idle_pins"},
    "BaseTLB": {"cpu_side_ports", "mem_side_port"},  # only other instruction sets use them
    "BaseXBar": {"default"},
    "Clint": {"reset"},
    # NETWORK_PORTS says which buffers must join the network
    "MessageBuffer": {"in_port", "out_port"},
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
    """A reference to an object's port. Assigning a port to another one connects them."""

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
    """Base of gem5's objects. Each declared type is a subclass, with its declaration in
    `declaration`.
    """

    declaration: dict[str, Any]
    fake: FakeGem5
    _params: dict[str, str]  # parameters of the object, under the name that gem5 uses

    def __init__(self, made_with: Iterable[str] = ()) -> None:
        self.__dict__.update(
            values={}, peers={}, given=set(made_with), name=type(self).__name__, owner=None
        )

    @classmethod
    @cache
    def merged(cls, part: str) -> Any:
        """Returns this part of the declarations of the type and its bases."""
        merged: dict[str, str] = {}
        for base in reversed(cls.__mro__):
            merged |= base.__dict__.get("declaration", {}).get(part, {})
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
            self.values[name] = self._own(name, self.fake.types[kind](made_with))
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
        self.fake.calls.append(method)
        for path in self.merged("methods")[method]:
            *path_to_owner, last = path.split(".")
            owner = self
            for step in path_to_owner:
                owner = getattr(owner, step)
            owner.given.add(last)

    def _own(self, name: str, value: Any) -> Any:
        """Makes this object the owner of those objects in the value that have no owner yet."""
        for number, part in enumerate(_as_list(value)):
            if isinstance(part, SimObject) and part.owner is None and part is not self:
                number_ = str(number) if isinstance(value, list) else ""
                part.__dict__.update(owner=self, name=f"{self.name}.{name}{number_}")
        return value

    def _check(self, name: str, declared: str, value: Any) -> None:
        kind = declared.rstrip("!")
        if isinstance(value, list) and not kind.endswith("*"):
            raise TypeError(f"{self.name}.{name}: several values for one {kind}")
        for element in _as_list(value):
            if not self.fake.fits(kind.rstrip("*"), element):
                raise TypeError(f"{self.name}.{name}: {element!r} is no {kind}")

    # ---- when gem5 instantiates the objects

    def parts(self) -> Iterator[SimObject]:
        """Yields the objects that this one owns, including default ones."""
        for name in self.merged("objects"):
            if name not in self.given:
                getattr(self, name)
        for value in self.values.values():
            yield from (
                part
                for part in _as_list(value)
                if isinstance(part, SimObject) and part.owner is self
            )

    def faults(self) -> Iterator[str]:
        """Yields a message for everything that would prevent gem5 from instantiating the object."""
        set_by_type = {name for base in type(self).__mro__ for name in _parameters_set_by(base)}
        for name, kind in self.merged("params").items():
            if kind.endswith("!") and not {name} & (self.values.keys() | self.given | set_by_type):
                yield f"{self.name}.{name} is required and not set"
            if network_port := NETWORK_PORTS.get(kind.rstrip("!").rpartition(":")[2]):
                buffer = self.values.get(name)
                if buffer is not None and network_port not in buffer.peers:
                    yield f"{self.name}.{name}.{network_port} is not connected"
        names = [base.__name__ for base in type(self).__mro__]
        optional = {
            port for name in names for port in OPTIONAL_PORTS.get(name, ())
        } - REQUIRED_PORTS.get(names[0], set())
        for port in self.merged("ports").keys() - optional:
            if port not in self.peers:
                yield f"{self.name}.{port} is not connected"


def event(cause: str) -> SimpleNamespace:
    return SimpleNamespace(getCause=lambda: cause, getCode=lambda: 0)


def _parameters_set_by(base: type) -> Iterable[str]:
    sets: Iterable[str] = base.__dict__.get("declaration", {}).get("sets", ())
    return sets


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@cache
def _declared(version: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((DECLARATIONS / f"{version}.json").read_text())
    return document


class FakeGem5:
    """The modules m5, m5.objects, m5.params and _m5.core.

    With `long_names`, the names of controllers begin with that of their protocol, as they do since
    24.1.
    """

    def __init__(self, version: str, long_names: bool = False) -> None:
        self.long_names = long_names
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
        m5_package = ModuleType("_m5")
        vars(m5_package).update(core=core)
        with pytest.MonkeyPatch.context() as patch:
            for module in (m5, objects, params, m5_package, core):
                patch.setitem(sys.modules, module.__name__, module)
            runpy.run_path(str(script))
        assert script.with_name("progress.txt").read_text() == "5\n"

    def instantiate(self) -> None:
        (root,) = [object_ for object_ in self.objects if type(object_).__name__ == "Root"]
        waiting, faults, reachable = [root], list[str](), set[int]()
        while waiting:
            object_ = waiting.pop()
            reachable.add(id(object_))
            faults += object_.faults()
            waiting += object_.parts()
        faults += [
            f"{object_.name} belongs to nothing"
            for object_ in self.objects
            if id(object_) not in reachable
        ]
        if faults:
            raise RuntimeError("\n".join(faults))

    def fits(self, kind: str, value: object) -> bool:
        """Returns True if gem5 accepts this value for a parameter of the kind."""
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
        """Returns the contents of m5.objects in a build with this protocol."""
        types_by_name = {}
        for name in self.declared:
            protocol_of_type, _, short_name = name.rpartition(":")
            if protocol_of_type in ("", protocol):
                full_name = (
                    f"{protocol_of_type}_{short_name}"
                    if protocol_of_type and self.long_names
                    else short_name
                )
                types_by_name[full_name] = self.types[short_name] = self._type(name, short_name)
        return types_by_name

    def _type(self, name: str, short_name: str) -> type[SimObject]:
        if short_name not in self.types:
            declaration = self.declared[name]
            bases = tuple(self._type(base, base) for base in declaration["bases"])
            self.types[short_name] = type(
                short_name,
                bases or (SimObject,),
                {"declaration": declaration, "fake": self, "__init__": _constructor(self)},
            )
            self.types[short_name]._params = self.types[short_name].merged("params")
        return self.types[short_name]


def _constructor(fake: FakeGem5) -> Any:
    def made(self: SimObject, made_with: Iterable[str] = ()) -> None:
        SimObject.__init__(self, made_with)
        fake.objects.append(self)

    return made
