"""Does our hart execute random programs exactly as QEMU does?"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.isa import guest, programs, qemu

pytestmark = pytest.mark.skipif(qemu.QEMU is None, reason="qemu-system-riscv64 is not installed")


def difference(log: bytes, qemu_log: bytes, image: guest.Image) -> str:
    """Describes the first record that differs."""
    size = programs.RECORD
    for offset in range(0, max(len(log), len(qemu_log)), size):
        a, b = log[offset : offset + size], qemu_log[offset : offset + size]
        if a == b:
            continue
        pairs = list(zip(*(struct.unpack(f"<{len(r) // 8}Q", r) for r in (a, b)), strict=False))
        pc = pairs[0][1] if pairs else 0
        labels_nearby = sorted(
            label for label, address in image.labels.items() if pc - 64 <= address <= pc
        )
        fields = [f"[{n}] {x:#x} not {y:#x}" for n, (x, y) in enumerate(pairs) if x != y]
        return f"record {offset // size}, after {pc:#x} ({labels_nearby}): {', '.join(fields)}"
    return ""


@pytest.mark.parametrize("compressed", [False, True], ids=["rv64g", "rv64gc"])
@pytest.mark.parametrize("seed", range(6))
def test_a_random_program_has_the_same_registers_and_traps_as_on_qemu(
    seed: int, compressed: bool, tmp_path: Path
) -> None:
    cpu = guest.G + ("+c" if compressed else "")
    image = guest.assemble(programs.random_program(seed, compressed), tmp_path, cpu)
    qemu_log = qemu.on_qemu(image, tmp_path)
    assert len(qemu_log) >= programs.BLOCKS * programs.RECORD
    for answers in ("now", "later", "retry"):
        assert not difference(qemu.on_hart(image, answers=answers), qemu_log, image), answers


def test_ctzw_ignores_bits_above_the_word(tmp_path: Path) -> None:
    text = "li t0, 3 << 40\nctzw s1, t0\nli t0, 3 << 31\nctzw s2, t0\nctzw s3, x0\nexit 0"
    machine = guest.machine(text, tmp_path)
    assert machine.run(100) == "exit"
    x = machine.registers()
    assert (x[9], x[18], x[19]) == (32, 31, 32)
