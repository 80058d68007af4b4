"""The same binary does the same under another system, QEMU's user mode."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.linux import floating
from tests.linux.programs import job, program, ran

from uncore.execution.execute import execute
from uncore.program import Program

QEMU = shutil.which("qemu-riscv64")
pytestmark = pytest.mark.skipif(QEMU is None, reason="qemu-riscv64 is not installed")


def on_qemu(program: Program, folder: Path, *words: str) -> tuple[str, list[str]]:
    """Returns output and failures."""
    elf = folder / "program"
    if not elf.exists():
        elf.write_bytes(program.data)
        elf.chmod(0o755)
    command = [str(QEMU), str(elf), *words]
    there = subprocess.run(command, capture_output=True, timeout=60, text=True)
    return there.stdout, [f"exit status {there.returncode}"] if there.returncode else []


@pytest.mark.parametrize(
    "words",
    [
        ("words", "a", "b c", ""),
        ("status", "7"),
        ("memory",),
        ("locked", "7"),
        ("yields", "4"),
        ("spins", "2"),
        ("file", "/files/none"),
        ("events",),
        ("events_wait",),
        ("events_are_interrupted",),
        ("descriptors",),
        ("limits",),
        ("ranges",),
        ("senders",),
        ("faults",),
        ("process_signals",),
        ("awaited",),
    ],
    ids=lambda words: words[0],
)
def test_output_and_status_are_equal(words: tuple[str, ...], tmp_path: Path) -> None:
    here = ran(*words, harts=4)
    assert (here.output, here.failures) == on_qemu(program(), tmp_path, *words)


def test_every_instruction_of_floating_point_does_as_on_qemu_in_every_mode(tmp_path: Path) -> None:
    """Runs 56 programs, one for each instruction and format."""
    all_ = floating.program()
    one_hart = replace(job(harts=1), program=all_)
    numbers = [str(number) for number in range(len(floating.PROGRAMS))]
    assert len(numbers) >= 56
    results = execute([replace(one_hart, arguments=(number,)) for number in numbers])
    here = [(r.points[0].output, r.points[0].failures) for r in results]
    there = [on_qemu(all_, tmp_path, number) for number in numbers]
    assert here == there
    # most outputs differ from each other
    assert len({output for output, _ in there}) > len(numbers) // 2
