"""Does the hart execute as another implementation does? Random programs, here and on QEMU."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from validation.isa import guest, programs

QEMU = shutil.which("qemu-system-riscv64")
# Only what the hart has.
CPU = "rv64,f=off,d=off,h=off,s=off,zbc=off,pmp=off"

pytestmark = pytest.mark.skipif(QEMU is None, reason="qemu-system-riscv64 is not installed")


def on_qemu(image: guest.Image, folder: Path) -> bytes:
    command = [str(QEMU), "-M", "virt", "-m", "16M", "-cpu", CPU, "-bios", "none"]
    command += ["-kernel", str(image.path), "-display", "none", "-serial", "none"]
    command += ["-monitor", "none", "-semihosting-config", "enable=on,target=native"]
    # A sanitizer that Python was started with is not for QEMU.
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run(command, cwd=folder, env=env, check=True, timeout=20)
    return (folder / "log").read_bytes()


def on_hart(image: guest.Image, **options: object) -> bytes:
    machine = guest.boot(image, ram_size=16 << 20, **options)
    assert machine.run(10_000_000) == "exit", f"{machine.fatal()} at {machine.pc():#x}"
    length = machine.read(image.labels["write_block"] + 16, 8)
    log: bytes = machine.read(programs.LOG, int.from_bytes(length, "little"))
    return log


def difference(ours: bytes, theirs: bytes, image: guest.Image) -> str:
    """The first record that differs, in words."""
    size = programs.RECORD
    for at in range(0, max(len(ours), len(theirs)), size):
        a, b = ours[at : at + size], theirs[at : at + size]
        if a == b:
            continue
        words = list(zip(*(struct.unpack(f"<{len(r) // 8}Q", r) for r in (a, b)), strict=False))
        pc = words[0][1] if words else 0
        near = sorted(label for label, at in image.labels.items() if pc - 64 <= at <= pc)
        fields = [f"[{n}] {x:#x} not {y:#x}" for n, (x, y) in enumerate(words) if x != y]
        return f"record {at // size}, behind {pc:#x} ({near}): {', '.join(fields)}"
    return ""


@pytest.mark.parametrize("compressed", [False, True], ids=["rv64ima", "rv64imac"])
@pytest.mark.parametrize("seed", range(6))
def test_a_random_program_leaves_the_same_registers_and_traps_as_on_qemu(
    seed: int, compressed: bool, tmp_path: Path
) -> None:
    cpu = guest.CANONICAL + "+zba+zbb+zbs" + ("+c" if compressed else "")
    image = guest.assemble(programs.random_program(seed, compressed), tmp_path, cpu)
    theirs = on_qemu(image, tmp_path)
    assert len(theirs) >= programs.BLOCKS * programs.RECORD
    for answers in ("now", "later", "retry"):
        assert not difference(on_hart(image, answers=answers), theirs, image), answers


def test_ctzw_looks_at_the_word_alone(tmp_path: Path) -> None:
    text = "li t0, 3 << 40\nctzw s1, t0\nli t0, 3 << 31\nctzw s2, t0\nctzw s3, x0\nexit 0"
    machine = guest.machine(text, tmp_path)
    assert machine.run(100) == "exit"
    x = machine.registers()
    assert (x[9], x[18], x[19]) == (32, 31, 32)
