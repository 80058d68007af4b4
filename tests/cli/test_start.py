"""Does a command load only the modules it needs, and is the build checked only after a change?

The tests count loaded packages and checks of the build. They measure no time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

LOADED = """
import atexit, sys
before = set(sys.modules)  # the modules that Python loads by itself
atexit.register(lambda: print(*sorted(set(sys.modules) - before), file=sys.stderr))
from uncore.cli.app import main
main()
"""
OUR_LIBRARIES = {"uncore", "cyclopts", "msgspec", "rich"}
CYCLOPTS_PACKAGES = {"attr", "attrs", "typing_extensions"}  # dependencies of cyclopts
RUN = ("run", "bus:2", "counter/atomic", "--threads", "1,2", "--set", "ops=4")


def modules(*arguments: str) -> set[str]:
    completed = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True
    )
    return set(completed.stderr.split())


def packages(loaded: set[str]) -> set[str]:
    """Returns the top-level packages of the modules, without the standard library's."""
    names = {name.partition(".")[0] for name in loaded}
    return {name for name in names - sys.stdlib_module_names if not name.startswith("_")}


@pytest.mark.parametrize("arguments", [RUN, ("list",), ("show", "bus:2")])
def test_command_loads_no_library_that_it_does_not_use(arguments):
    assert packages(modules(*arguments)) <= OUR_LIBRARIES | CYCLOPTS_PACKAGES


def test_run_loads_only_its_own_engine_and_no_module_of_other_commands():
    loaded = modules(*RUN)
    assert "uncore.engine.native" in loaded
    foreign_modules = (
        "uncore.engine.reference",
        "uncore.study.litmus",
        "uncore.study.compare",
        "uncore.matrix",
    )
    foreign_modules += ("uncore.study.whatif", "uncore.study.fences.orders", "uncore.drawing.plot")
    foreign_modules += (
        "uncore.report.chart",
        "uncore.drawing.panels",
        "uncore.engine.native.reordered",
    )
    assert not {name for name in loaded if name.startswith((*foreign_modules, "uncore_lab"))}


PYTHON = """#!/bin/sh
echo "$*" >>build/calls
case "$*" in *SCons*) test ! -e fails && cp sim/source.py build/workloads/guest.elf; esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Callable[..., bool]:
    """Makes a checkout with one source file, and a Python that records its arguments.

    Returns a function that prepares the environment as scripts/run does. That function returns True
    if SCons ran.
    """
    shutil.copytree(SCRIPTS, tmp_path / "scripts")
    for folder in ("sim", "workloads", "build/workloads", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("SConstruct", "pyproject.toml", "requirements.lock", "sim/source.py"):
        (tmp_path / name).write_text("one")
    python = tmp_path / ".venv/bin/python"
    python.write_text(PYTHON)
    python.chmod(0o755)

    def prepare(**variables: str) -> bool:
        calls = tmp_path / "build/calls"
        calls.write_text("")
        command = ["bash", "-c", "source scripts/environment.sh"]
        subprocess.run(command, cwd=tmp_path, env={**os.environ, **variables})
        return "SCons" in calls.read_text()

    assert prepare()
    return prepare


def test_unchanged_build_is_not_checked_again(checkout):
    assert not checkout()


def edit_without_changing_the_time(top: Path) -> None:
    """Replaces the text of a file by one of the same length, and keeps its modification time."""
    source = top / "sim/source.py"
    before = source.stat()
    source.write_text("two")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        edit_without_changing_the_time,
        lambda top: (top / "workloads/new.c").write_text(""),
        lambda top: (top / "sim/source.py").rename(top / "sim/other.py"),
        lambda top: (top / "SConstruct").write_text("two"),
        lambda top: (top / "pyproject.toml").write_text("two"),
        lambda top: (top / "build/workloads/guest.elf").unlink(),
        lambda top: (top / "build/workloads/guest.elf").write_text("spoilt"),
    ],
    ids=["edited", "new", "renamed", "description", "packages", "lost product", "other product"],
)
def test_build_is_checked_again_after_a_dependency_has_changed(checkout, tmp_path, change):
    change(tmp_path)
    assert checkout()


def test_build_is_checked_again_after_the_compiler_has_changed(checkout):
    assert checkout(CXX="clang++-99")


def test_every_start_checks_the_build_again_until_it_succeeds(checkout, tmp_path):
    (tmp_path / "fails").touch()
    edit_without_changing_the_time(tmp_path)
    assert checkout() and checkout()
    (tmp_path / "fails").unlink()
    assert checkout()
    assert not checkout()


def test_source_that_is_edited_during_a_build_is_built_again(checkout, tmp_path):
    python = tmp_path / ".venv/bin/python"
    edit = "test -e edited || { touch edited; echo three >sim/source.py; }\n"
    python.write_text(PYTHON + edit)
    (tmp_path / "sim/source.py").write_text("two")
    assert checkout() and checkout()
    assert not checkout()
