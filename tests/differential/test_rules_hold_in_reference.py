"""Does each rule of docs/model.md hold in the reference engine, too?

The tests of rules (tests/engine) say to the nanosecond what small machines do.  Here they run
once more, on the other engine: so a rule that both engines were to read wrongly would have to be
read wrongly by the test as well.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from uncore.engine import Probes, native, reference
from uncore.job import Job

RULES = sorted((Path(__file__).parent.parent / "engine").glob("test_rules_*.py"))


def _run(job: Job, probes: Probes, *_: Any, **__: Any) -> dict[str, Any]:
    """A core's lookahead and sleep are options of the native engine alone, so they are dropped."""
    return reference.run(job, probes)


@pytest.fixture(autouse=True)
def on_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "run", _run)


for file in RULES:
    module = importlib.import_module(f"tests.engine.{file.stem}")
    tests = {name: value for name, value in vars(module).items() if name.startswith("test_")}
    assert tests and not tests.keys() & globals().keys()
    globals().update(tests)
