"""Does the same binary do the same under another system, QEMU's user mode?"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from validation.linux.programs import program, ran

QEMU = shutil.which("qemu-riscv64")


@pytest.mark.skipif(QEMU is None, reason="qemu-riscv64 is not installed")
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
    ],
    ids=lambda words: words[0],
)
def test_output_and_status_are_equal(words: tuple[str, ...], tmp_path: Path) -> None:
    elf = tmp_path / "calls"
    elf.write_bytes(program().data)
    elf.chmod(0o755)
    here = ran(*words, harts=4)
    there = subprocess.run(
        [str(QEMU), str(elf), *words], capture_output=True, timeout=60, text=True
    )
    failed = [f"exit status {there.returncode}"] if there.returncode else []
    assert (here.output, here.failures) == (there.stdout, failed)
