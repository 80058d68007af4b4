"""Does the same binary give the same results in QEMU's user mode?"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.linux import floating
from tests.linux.programs import job, program, run_guest

from uncore.execution.execute import execute
from uncore.program import Program

QEMU = shutil.which("qemu-riscv64")
pytestmark = pytest.mark.skipif(QEMU is None, reason="qemu-riscv64 is not installed")


def on_qemu(program: Program, folder: Path, *words: str) -> tuple[str, list[str]]:
    """Runs the program and returns its output and its failures, in the form of a Point."""
    elf = folder / "program"
    if not elf.exists():
        elf.write_bytes(program.data)
        elf.chmod(0o755)
    command = [str(QEMU), str(elf), *words]
    completed = subprocess.run(command, capture_output=True, timeout=60, text=True)
    return completed.stdout, [f"exit status {completed.returncode}"] if completed.returncode else []


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
def test_output_and_exit_status_are_those_under_qemu(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    point = run_guest(*words, harts=4)
    assert (point.output, point.failures) == on_qemu(program(), tmp_path, *words)


def test_every_floating_point_instruction_gives_the_results_of_qemu_in_every_rounding_mode(
    tmp_path: Path,
) -> None:
    """There are 56 programs, one for each instruction and format."""
    all_instructions = floating.program()
    one_hart = replace(job(harts=1), program=all_instructions)
    numbers = [str(number) for number in range(len(floating.PROGRAMS))]
    assert len(numbers) >= 56
    results = execute([replace(one_hart, arguments=(number,)) for number in numbers])
    simulated = [(r.points[0].output, r.points[0].failures) for r in results]
    on_host = [on_qemu(all_instructions, tmp_path, number) for number in numbers]
    assert simulated == on_host
    # Most outputs must differ, or the comparison would show little.
    assert len({output for output, _ in on_host}) > len(numbers) // 2
