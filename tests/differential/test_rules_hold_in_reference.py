"""Does each rule of docs/model.md hold in the reference engine, too?

The tests of rules in tests/engine state to the nanosecond how small machines behave. Here the same
tests run on the reference engine. An error that both engines share therefore passes only if a test
shares it, too.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from uncore.engine import Observers, native, reference
from uncore.job import Job

RULES = sorted((Path(__file__).parent.parent / "engine").glob("test_rules_*.py"))


def _run(job: Job, observers: Observers, *_: Any, **__: Any) -> dict[str, Any]:
    """Runs a job on the reference engine, without the options that only the native engine has:
    lookahead and sleep.
    """
    return reference.run(job, observers)


@pytest.fixture(autouse=True)
def use_reference_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "run", _run)


for file in RULES:
    module = importlib.import_module(f"tests.engine.{file.stem}")
    tests = {name: value for name, value in vars(module).items() if name.startswith("test_")}
    assert tests and not tests.keys() & globals().keys()
    globals().update(tests)
