"""Tries a mutant in a copy of the tree: applies the change, builds, and runs tests.

    Tree("0").attempt(mutant, rest=True) -> Trial
    SwitchedTree(mutants)    a tree with all C++ mutants in one build; has(mutant), attempt(mutant)

The copies lie in build/mutants and are updated before use, so that edits of this tree do not
disturb a trial. A build compiles only the files that a mutant changes.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from tests.mutants import switches
from tests.mutants.mutant_list import TOP, Mutant

FOLDER = TOP / "build" / "mutants"
# files of build/ that are copied, so that less must be compiled
COPIED_BUILD_FILES = ("native", "workloads", "sconsign.dblite")
ORDINARY_TESTS = ["-m", "not long and not bulk", "--ignore=tests/mutants"]
TESTS_TIMEOUT_S = 900
FAILED = re.compile(r"^tests/(.+?) (?:FAILED|ERROR) +\[ *\d+%\]$", re.MULTILINE)
STARTED = re.compile(r"^tests/(\S+)", re.MULTILINE)

NOTICED, UNNOTICED, HANGS, BROKEN = "noticed", "not noticed", "hangs", "does not compile"


class Trial(msgspec.Struct, frozen=True):
    """The result of trying a mutant."""

    outcome: str
    by: str = ""  # the test that detected the mutant, or the compiler's message
    seconds: float = 0.0


class Tree:
    """A copy of this source tree in build/mutants."""

    def __init__(self, name: str) -> None:
        self.top = FOLDER / f"tree{name}"
        self.stale = {"native", "workloads"}  # SCons targets that must be built again
        self._copy()

    def _copy(self) -> None:
        """Copies only the files that differ, so that only these must be compiled."""
        listed = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
        names = subprocess.check_output(listed, cwd=TOP, text=True).split("\0")
        # A copy has no biome.jsonc, because Biome refuses a second configuration below the first.
        copied = {*names} - {"", "biome.jsonc"}
        present = {name for name in copied if (TOP / name).is_file()}
        for old in self.top.rglob("*"):
            name = old.relative_to(self.top)
            if old.is_file() and name.parts[0] != "build" and str(name) not in present:
                old.unlink()
        for name in present:
            source, target = TOP / name, self.top / name
            if not target.is_file() or source.read_bytes() != target.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        if not (self.top / "build").exists():
            self._copy_built()

    def _copy_built(self) -> None:
        (self.top / "build").mkdir()
        for name in COPIED_BUILD_FILES:
            source, target = TOP / "build" / name, self.top / "build" / name
            if source.is_dir():
                shutil.copytree(source, target)
            elif source.is_file():
                shutil.copy2(source, target)
        (self.top / "build" / "zig").symlink_to(TOP / "build" / "zig")

    # ---- trials ----------------------------------------------------------------------------------

    def attempt(self, mutant: Mutant, rest: bool) -> Trial:
        """Runs the tests that are meant for the mutant. If it survives them and `rest` is true,
        runs all ordinary tests.
        """
        start = time.monotonic()
        path = self.top / mutant.file
        text = path.read_text()
        self._write(path, mutant.applied(text))
        try:
            self.stale |= targets_of(mutant)
            message = self._compile()
            trial = (
                Trial(BROKEN, message.strip()[-2000:]) if message else self._tested(mutant, rest)
            )
        finally:
            self._write(path, text)
            self.stale |= targets_of(mutant)
        return msgspec.structs.replace(trial, seconds=time.monotonic() - start)

    def _tested(self, mutant: Mutant, rest: bool, environment: Mapping[str, str] = {}) -> Trial:
        trial = self.test(mutant.tests, environment)
        if not rest or trial.outcome != UNNOTICED:
            return trial
        self.stale |= {"workloads"} if mutant.programs else set()
        return self.test([], environment)

    def _write(self, path: Path, text: str) -> None:
        """Writes the text and removes the module that Python has compiled. Python compares sizes
        and times in whole seconds, so it could take the old module for current.
        """
        path.write_text(text)
        for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            stale.unlink()

    def _compile(self) -> str:
        """Builds the stale targets. Returns the compiler's messages if the build fails, otherwise
        "".
        """
        if not self.stale:
            return ""
        command = [sys.executable, "-m", "SCons", "-Q", "-s", "-k", *sorted(self.stale)]
        self.stale = set()
        build = subprocess.run(
            ["nice", *command], cwd=self.top, env=self._environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return (build.stdout or "failed") if build.returncode else ""

    def test(self, tests: Sequence[str], environment: Mapping[str, str] = {}) -> Trial:
        """Runs these tests, or all ordinary tests if there are none. Adds `environment` to the
        environment.
        """
        self._compile()
        arguments = [f"tests/{test}" for test in tests] or ["tests"]
        command = [sys.executable, "-m", "pytest", "-v", "-x", "--tb=no", "-p", "no:cacheprovider"]
        with subprocess.Popen(
            ["nice", *command, *ORDINARY_TESTS, *arguments], cwd=self.top, text=True,
            start_new_session=True, env=self._environment() | environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as pytest:  # fmt: skip
            try:
                output, _ = pytest.communicate(timeout=TESTS_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(pytest.pid, signal.SIGKILL)
                output, _ = pytest.communicate()
                return Trial(HANGS, _last(STARTED, output))
        if pytest.returncode == 0:
            return Trial(UNNOTICED)
        if pytest.returncode == 1:
            return Trial(NOTICED, _last(FAILED, output) or tests[0])
        if pytest.returncode in (4, 5):
            raise RuntimeError(
                f"pytest found no test by these names: {' '.join(arguments)}\n{output}"
            )
        # the process that ran the tests crashed
        return Trial(NOTICED, _last(STARTED, output) or tests[0])

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join(str(self.top / part) for part in ("sim", "validation", "."))
        return os.environ | {"PYTHONPATH": path}


class SwitchedTree(Tree):
    """A tree with many mutants behind switches. Mutants that cannot be switched are tried in other
    trees.
    """

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        super().__init__("-together")
        self.numbers: dict[str, int] = {}
        candidates = dict(enumerate(mutants, 1))
        self.files = sorted({mutant.file for mutant in mutants})
        while message := self._build(candidates):
            failing = set(map(int, switches.COMPILER_ERROR.findall(message)))
            if not failing:
                raise RuntimeError(f"mutants: code outside of mutants does not compile:\n{message}")
            candidates = {
                number: mutant for number, mutant in candidates.items() if number not in failing
            }

    def has(self, mutant: Mutant) -> bool:
        return mutant.name in self.numbers

    def attempt(self, mutant: Mutant, rest: bool) -> Trial:
        start = time.monotonic()
        environment = {switches.VARIABLE: str(self.numbers[mutant.name])}
        trial = self._tested(mutant, rest, environment)
        return msgspec.structs.replace(trial, seconds=time.monotonic() - start)

    def _build(self, mutants: Mapping[int, Mutant]) -> str:
        """Builds the tree with these mutants. Returns the compiler's messages about them."""
        self.numbers = {}
        for file in self.files:
            text = (TOP / file).read_text()
            of_file = {number: mutant for number, mutant in mutants.items() if mutant.file == file}
            changed = {number: mutant.applied(text) for number, mutant in of_file.items()}
            switched = switches.switched(file, text, changed)
            self._write(self.top / file, switched.text)
            self.numbers |= {of_file[number].name: number for number in switched.numbers}
        self._write(self.top / "sim/native" / switches.HEADER, switches.SELECTION)
        self.stale = {"native"}
        return self._compile()


def is_native(mutant: Mutant) -> bool:
    return mutant.file.startswith("sim/native/") and mutant.file.endswith((".cc", ".hh"))


def targets_of(mutant: Mutant) -> set[str]:
    """Returns the SCons targets that contain the mutant's file. Python is not built, except the
    structs of a machine.
    """
    if mutant.file.startswith("workloads/"):
        return {f"build/workloads/{program}.elf" for program in mutant.programs}
    is_built = mutant.file.startswith("sim/native/") or "/topology/" in mutant.file
    return {"native"} if is_built else set()


def _last(pattern: re.Pattern[str], output: str) -> str:
    matches = pattern.findall(output)
    return matches[-1] if matches else ""
