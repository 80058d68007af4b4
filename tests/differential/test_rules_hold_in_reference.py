"""Does each rule of docs/model.md hold in the reference engine, too?

The tests of rules (tests/engine) state to the nanosecond how small machines behave. Here they run
on the other engine, so a misreading of a rule by both engines passes only if the test shares it.
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
    """Runs a job on the reference engine. Lookahead and sleep are options of the native engine
    only, so they are dropped.
    """
    return reference.run(job, probes)


@pytest.fixture(autouse=True)
def on_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "run", _run)


for file in RULES:
    module = importlib.import_module(f"tests.engine.{file.stem}")
    tests = {name: value for name, value in vars(module).items() if name.startswith("test_")}
    assert tests and not tests.keys() & globals().keys()
    globals().update(tests)
