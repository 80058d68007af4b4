"""Does `uncore engines --report` print all facts that a bug report needs?"""

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
    lines = dict(line.split(": ", 1) for line in run.out.splitlines())
    assert run.status == 0 and lines == json.loads(uncore("engines", "--report", "--json").out)
    assert lines["uncore"].startswith(f"{__version__}, copy ")
    assert platform.python_version() in lines["python"]
    assert platform.release() in lines["platform"] and platform.machine() in lines["platform"]
    assert "GCC" in lines["compiler"] or "clang" in lines["compiler"]
    assert {f"engine {name}" for name in engine.names()} < lines.keys()
    assert lines["engine native"] == "ready" and lines["engine toy"] == "install toys"
    assert lines["host cores"] == f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} may be used"


@pytest.mark.parametrize(
    ("file", "why"),
    [(Path(__file__), "no ELF file"), (paths.GUESTS / "lock/ticket.elf", "the file names none")],
)
def test_compiler_is_unknown_if_the_built_file_does_not_name_it(file, why):
    assert compiler(file) == f"unknown: {why}"
