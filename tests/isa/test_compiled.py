"""Do compiled programs compute the same as on QEMU, with all of RV64GC, Zba, Zbb and Zbs?"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.isa import guest, programs, qemu

SOURCE = Path(__file__).with_name("numbers.c")
CALL = f"""
    li x29, 0x2000          # mstatus.FS
    csrs mstatus, x29
    li sp, {programs.DATA:#x}
    li a0, {programs.LOG:#x}
    call compute
    mv x31, a0
    j exit_guest
"""
UNALIGNED = "+unaligned_scalar_mem"
FLAGS = ["-ffreestanding", "-mcmodel=medany", "-fno-math-errno", "-fno-sanitize=all", str(SOURCE)]


def compile_program(extension: str, optimise: str, folder: Path) -> guest.Image:
    flags = [*optimise.split(), *FLAGS]
    return guest.assemble(CALL + programs.END, folder, guest.G + extension, "lp64d", flags)


@pytest.mark.skipif(qemu.QEMU is None, reason="qemu-system-riscv64 is not installed")
@pytest.mark.parametrize("optimise", ["-O0", "-O2", "-O3 -ffast-math"])
@pytest.mark.parametrize("extension", ["+c", UNALIGNED], ids=["compressed", "unaligned"])
def test_a_compiled_program_has_the_same_results_as_on_qemu(
    extension: str, optimise: str, tmp_path: Path
) -> None:
    image = compile_program(extension, optimise, tmp_path)
    log = qemu.on_hart(image)
    assert len(log) > 8_000
    assert log == qemu.on_qemu(image, tmp_path)


def test_compiled_program_contains_fused_float_and_bit_instructions(tmp_path: Path) -> None:
    """If compilers did not generate these instructions, the test above would prove little."""
    text = compile_program(UNALIGNED, "-O2", tmp_path).text
    instructions = {word for (word,) in struct.iter_unpack("<I", text[: len(text) & ~3])}
    for name, match, mask in (
        ("fmadd.d", 0x02000043, 0x0600007F),
        ("fsqrt.s", 0x58000053, 0xFFF0007F),
        ("cpop", 0x60201013, 0xFFF0707F),
        ("sh1add", 0x20002033, 0xFE00707F),
        ("binv", 0x68001033, 0xFE00707F),
    ):
        assert any(word & mask == match for word in instructions), name
