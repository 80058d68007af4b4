"""Does `uncore engines --report` print what a report of a mistake needs, ready to paste?"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import pytest

from uncore import __version__, engine
from uncore.report.installation import compiler
from uncore.support import paths


def test_report_says_version_python_platform_compiler_engines_and_cores(uncore, monkeypatch):
    monkeypatch.setenv("TOY_MISSING", "install toys")
    run = uncore("engines", "--report")
    said = dict(line.split(": ", 1) for line in run.out.splitlines())
    assert run.status == 0 and said == json.loads(uncore("engines", "--report", "--json").out)
    assert said["uncore"].startswith(f"{__version__}, copy ")
    assert platform.python_version() in said["python"]
    assert platform.release() in said["platform"] and platform.machine() in said["platform"]
    assert "GCC" in said["compiler"] or "clang" in said["compiler"]
    assert {f"engine {name}" for name in engine.names()} < said.keys()
    assert said["engine native"] == "ready" and said["engine toy"] == "install toys"
    assert said["host cores"] == f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} may be used"


@pytest.mark.parametrize(
    ("file", "why"),
    [(Path(__file__), "no ELF file"), (paths.GUESTS / "lock/ticket.elf", "the file names none")],
)
def test_compiler_that_is_not_named_is_unknown(file, why):
    assert compiler(file) == f"unknown: {why}"
