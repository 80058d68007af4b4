"""Fixtures of the guest tests: a compiler for variants, and QEMU's `virt` board as a second
implementation.

QEMU executes the guest's instructions with real threads, and knows nothing of our boot block unless
the ELF is patched.  So a guest that passes there does not depend on our engines.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from uncore.program import HartRecord, Program, build, load, readback

QEMU = "qemu-system-riscv64"


@dataclass(frozen=True)
class Outcome:
    """The end of a run on QEMU."""

    status: int
    console: str

    @property
    def records(self) -> list[HartRecord]:
        return readback.records_from_text(self.console)

    @property
    def tables(self) -> dict[str, readback.Cells]:
        return readback.tables_from_text(self.console)


Run = Callable[..., Outcome]
Compile = Callable[..., Program]


@pytest.fixture
def qemu() -> Run:
    """Returns run(elf, harts, rounds=3, ...), which puts parameters on the guest's command line."""
    if not shutil.which(QEMU):
        pytest.skip(f"{QEMU} is not installed; on Debian: apt install qemu-system-misc")

    def run(elf: Path, harts: int, semihosting: bool = True, **parameters: int) -> Outcome:
        arguments = [
            "guest",
            f"n={harts}",
            *(f"{name}={value}" for name, value in parameters.items()),
        ]
        hosting = "enable=on,target=native," + ",".join(f"arg={word}" for word in arguments)
        console = [] if semihosting else ["-serial", "stdio"]
        command = [QEMU, "-M", "virt", "-m", "128M", "-smp", str(harts), "-bios", "none"]
        command += ["-kernel", str(elf), "-display", "none", "-monitor", "none"]
        command += ["-semihosting-config", hosting, "-serial", "none"] if semihosting else console
        done = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            text, _ = done.communicate(timeout=120 if semihosting else 3)
        except subprocess.TimeoutExpired:
            done.kill()
            text, _ = done.communicate()
        return Outcome(done.returncode, text.decode(errors="replace"))

    return run


@pytest.fixture
def compile_guest(tmp_path: Path) -> Compile:
    """Returns compile_guest(source text or path, *defines), which gives a Program in a file of its
    own.
    """

    def compile_(source: str | Path, *defines: str) -> Program:
        if isinstance(source, str):
            (tmp_path / "guest.c").write_text(source)
            source = tmp_path / "guest.c"
        elf = tmp_path / f"{source.stem}.elf"
        build.build(source, elf, defines)
        return load(elf)

    return compile_
