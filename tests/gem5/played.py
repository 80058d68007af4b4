"""gem5's Python modules, played: whatever a configuration makes, sets, connects and calls is noted.

    played = Played(newer=False)        a gem5 since 24.1?
    played.run(folder / "configuration.py")
    played.made, .objects, .order       types in order; the objects; what was called

It knows the types that the folder's document names, and nothing of what they do.
"""

from __future__ import annotations

import json
import runpy
import sys
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


class Made:
    """Any SimObject: has every attribute, and remembers what is set."""

    _params: tuple[str, ...] = ()

    def __init__(self, played: Played, kind: str, path: str) -> None:
        self.__dict__.update(played=played, kind=kind, path=path, parts={})

    def __getattr__(self, name: str) -> Made:
        return self.parts.setdefault(name, Made(self.played, "", f"{self.path}.{name}"))

    def __setattr__(self, name: str, value: object) -> None:
        self.parts[name] = value

    def __call__(self, *arguments: object) -> Made:
        self.played.order.append(self.path.rpartition(".")[2])
        return self


class NewerMade(Made):
    _params = ("block_size",)


class Played:
    """The modules m5, m5.objects, m5.params and _m5.core."""

    def __init__(self, newer: bool = False) -> None:
        self.newer = newer
        self.made: list[str] = []
        self.order: list[str] = []
        self.objects: list[Made] = []

    def run(self, script: Path) -> None:
        m5, objects, params = (ModuleType(name) for name in ("m5", "m5.objects", "m5.params"))
        simulator: Any = m5
        simulator.objects = objects
        for name in ("instantiate", "simulate", "curTick"):
            setattr(m5, name, Made(self, "", name))
        vars(params).update(AddrRange=dict, NULL=None)
        core = ModuleType("_m5.core")
        vars(core).update(setLogLevel=lambda level: None, LogLevel=SimpleNamespace(WARN=2))
        own = ModuleType("_m5")
        vars(own).update(core=core)
        protocol = json.loads(script.with_name("system.json").read_text())["protocol"]
        for kind in _kinds(script.with_name("system.json")):
            full = self.newer and kind.endswith("_Controller")
            setattr(objects, f"{protocol}_{kind}" if full else kind, partial(self.make, kind))
        with pytest.MonkeyPatch.context() as patch:
            for module in (m5, objects, params, own, core):
                patch.setitem(sys.modules, module.__name__, module)
            runpy.run_path(str(script))
        self.order.remove("curTick")
        self.order = [name for name in self.order if not name.startswith("get")]

    def make(self, kind: str) -> Made:
        self.made.append(kind)
        self.objects.append((NewerMade if self.newer else Made)(self, kind, kind))
        return self.objects[-1]


def _kinds(path: Path) -> set[str]:
    """Every type that a document names."""
    kinds: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            kinds.update(value[key] for key in ("type", "new") if isinstance(value.get(key), str))
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                look(item)

    look(json.loads(path.read_text()))
    return kinds
