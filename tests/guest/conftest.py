"""Fixtures of the guest tests: a compiler for guests, and QEMU's `virt` board to run them on.

QEMU executes each hart of a guest in a real thread, and fills in no boot block.  So a guest that
passes its checks there does not depend on our engines.
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
    """How a run on QEMU ended, and what the guest printed."""

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
    """Returns run(elf, harts, rounds=3, ...). Parameters are put on the guest's command line."""
    if not shutil.which(QEMU):
        pytest.skip(f"{QEMU} is not installed; on Debian: apt install qemu-system-misc")

    def run(elf: Path, harts: int, semihosting: bool = True, **parameters: int) -> Outcome:
        arguments = [
            "guest",
            f"n={harts}",
            *(f"{name}={value}" for name, value in parameters.items()),
        ]
        semihosting_options = "enable=on,target=native," + ",".join(
            f"arg={word}" for word in arguments
        )
        uart = [] if semihosting else ["-serial", "stdio"]
        command = [QEMU, "-M", "virt", "-m", "128M", "-smp", str(harts), "-bios", "none"]
        command += ["-kernel", str(elf), "-display", "none", "-monitor", "none"]
        command += (
            ["-semihosting-config", semihosting_options, "-serial", "none"] if semihosting else uart
        )
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            text, _ = process.communicate(timeout=120 if semihosting else 3)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
        return Outcome(process.returncode, text.decode(errors="replace"))

    return run


@pytest.fixture
def compile_guest(tmp_path: Path) -> Compile:
    """Returns compile_guest(source, *defines), which compiles a file or a text of C."""

    def compile_(source: str | Path, *defines: str) -> Program:
        if isinstance(source, str):
            (tmp_path / "guest.c").write_text(source)
            source = tmp_path / "guest.c"
        elf = tmp_path / f"{source.stem}.elf"
        build.build(source, elf, defines)
        return load(elf)

    return compile_
