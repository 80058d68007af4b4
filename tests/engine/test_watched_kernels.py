"""Are the interrupts of a kernel's run counted by kind, and its waits attributed to markers and
symbols?
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.test_devices_of_kernels import ACCEPT_INTERRUPTS
from tests.engine.test_kernels import CALLS, EXECUTION_MODES, WORDS, boot, run
from tests.isa import guest

from uncore import boot as system
from uncore.boot.device_tree import INTERRUPT_FILES
from uncore.errors import UserError

# Hart 1 counts its interrupts by cause (software, timer, external), in the words from number 8 on.
# Hart 0 sends it three messages and, through the firmware, an IPI. Each is sent after hart 1 has
# handled the previous one.
COUNTS_INTERRUPTS = f"""
    li a0, 1
    la a1, other
    li a2, 0
    call 0x48534D, 0
    await 0, 1
    li s0, 0
1:  addi s0, s0, 1
    li t0, {INTERRUPT_FILES + 0x1000:#x}
    li t1, 1
    fence rw, rw
    sw t1, (t0)
    li t0, WORDS + 64 * 17
2:  ld t1, (t0)
    bne t1, s0, 2b
    li t1, 3
    bne s0, t1, 1b
    li a0, 2
    li a1, 0
    call 0x735049, 0
    await 9, 1
    await 13, 2
    off 0
other:
{ACCEPT_INTERRUPTS}
    li t0, 0x222
    csrw sie, t0
    set 0, 1
    rdtime s1
    addi s1, s1, 500
    csrw 0x14D, s1
1:  wfi
    j 1b
.balign 4
taken:
    csrr t0, scause
    andi t0, t0, 0xff
    li t1, 5
    beq t0, t1, timer
    li t1, 9
    beq t0, t1, file
    csrci sip, 2
    j count
file:
    csrrw x0, 0x15C, x0
    j count
timer:
    addi s1, s1, 500
    li t1, WORDS + 64 * 13
    ld t2, (t1)
    beqz t2, 1f
    li s1, -1
1:  csrw 0x14D, s1
count:
    slli t0, t0, 6
    li t1, WORDS + 64 * 8
    add t1, t1, t0
    ld t2, (t1)
    addi t2, t2, 1
    fence rw, rw
    sd t2, (t1)
    sret
"""


@pytest.mark.parametrize("mode", EXECUTION_MODES)
def test_interrupts_are_counted_as_the_kernel_counts_them(mode: dict[str, Any]) -> None:
    engine = run(COUNTS_INTERRUPTS, **mode)
    assert (engine.end, engine.exit_code) == ("exited", 0)
    software, timer, external = (
        struct.unpack("<Q", engine.read(WORDS + 64 * (8 + cause), 8))[0] for cause in (1, 5, 9)
    )
    assert (software, timer, external) == (1, 2, 3)
    assert engine.interrupts() == [
        {"ipi": 0, "device": 0, "timer": 0},
        {"ipi": software + external, "device": 0, "timer": timer},
    ]


# A user program with three parts. Each reads a line and makes the kernel read another one. Only
# part 2 is between the markers that begin and end the region of interest.
MARKED_PROGRAM = """
    la t0, kernel
    csrw stvec, t0
    la t0, program
    csrw sepc, t0
    li t0, 1 << 8
    csrc sstatus, t0
    sret
.macro part number
    li t0, WORDS + 64 * \\number
    ld t1, (t0)
    li a7, \\number
    ecall
.endm
.type program, @function
program:
    part 1
    sltiu x0, x0, 2
    part 2
    sltiu x0, x0, 3
    part 3
    li a7, 0
    ecall
.size program, . - program
.balign 4
.type kernel, @function
kernel:
    beqz a7, 1f
    slli t0, a7, 6
    li t1, WORDS + 0x1000
    add t0, t0, t1
    ld t1, (t0)
    csrr t0, sepc
    addi t0, t0, 4
    csrw sepc, t0
    sret
1:  off 0
.size kernel, . - kernel
"""


def attributed(text: str, folder: Path) -> tuple[set[int], dict[str, int]]:
    """Runs a kernel. Returns the lines of WORDS that were accessed in the region of interest, and
    misses by symbol.
    """
    session = system.Session(system.start(boot(text)))
    session.run.observe()
    while session.run_to_next_look():
        pass
    assert session.run.end == "exited"
    image = guest.assemble(f".set WORDS, {WORDS:#x}\n{CALLS}{text}", folder)
    uses = session.run.uses()
    rows = system.costs(uses, system.Symbols.read([image.path]))
    marked = [
        line
        for line, kind in zip(uses["line"].tolist(), uses["kind"].tolist(), strict=True)
        if kind > -2
    ]
    lines = {line for line in marked or uses["line"].tolist() if line >= WORDS}
    return lines, {row["symbol"]: row["misses"] for row in rows}


def test_only_waits_between_markers_are_attributed_in_program_and_kernel(
    tmp_path: Path,
) -> None:
    lines, misses = attributed(MARKED_PROGRAM, tmp_path)
    assert lines == {WORDS + 128, WORDS + 0x1000 + 128}
    assert misses == {"program": 1, "kernel": 1}


def test_all_waits_of_a_kernel_without_markers_are_attributed(tmp_path: Path) -> None:
    unmarked = MARKED_PROGRAM.replace("sltiu x0, x0, 2", "nop").replace("sltiu x0, x0, 3", "nop")
    lines, misses = attributed(unmarked, tmp_path)
    assert len(lines) == 6
    assert misses == {"program": 3, "kernel": 3}


def attribution_at(*pcs: int) -> dict[str, Any]:
    """Returns attributed rows, one for each of these instructions."""
    signed = [pc - (1 << 64) if pc >> 63 else pc for pc in pcs]
    columns = {"pc": signed, "line": [64] * len(pcs), "kind": [-2] * len(pcs)}
    columns |= {"waited_ps": [10] * len(pcs), "misses": [1] * len(pcs)}
    return {name: np.array(column) for name, column in columns.items()}


KERNEL = 0xFFFFFFFF80000000
SYSTEM_MAP = f"""\
{KERNEL:016x} T first
{KERNEL + 64:016x} t second
{KERNEL + 64:016x} t $x
{KERNEL + 128:016x} D data
{KERNEL + 192:016x} t third\t[module]
"""


@pytest.mark.parametrize("pc, name", [(4, "first"), (64, "second"), (200, "second")])
def test_instruction_is_attributed_to_the_symbol_before_it(
    tmp_path: Path, pc: int, name: str
) -> None:
    (tmp_path / "System.map").write_text(SYSTEM_MAP)
    symbols = system.Symbols.read([tmp_path / "System.map"])
    (row,) = system.costs(attribution_at(KERNEL + pc), symbols)
    assert row["symbol"] == name


def test_instructions_without_a_symbol_are_shown_by_program_or_address(tmp_path: Path) -> None:
    (tmp_path / "System.map").write_text(SYSTEM_MAP)
    symbols = system.Symbols.read([tmp_path / "System.map"])
    rows = system.costs(attribution_at(0x1000, KERNEL - 64), symbols)
    assert {row["symbol"] for row in rows} == {"(programs)", f"{KERNEL - 64:#x}"}


def test_kernel_and_program_symbols_are_reported_together(tmp_path: Path) -> None:
    (tmp_path / "System.map").write_text(SYSTEM_MAP)
    image = guest.assemble(f".set WORDS, {WORDS:#x}\n{CALLS}{MARKED_PROGRAM}", tmp_path)
    symbols = system.Symbols.read([tmp_path / "System.map", image.path])
    rows = system.costs(
        attribution_at(image.labels["program"] + 4, KERNEL + 4, guest.BASE), symbols
    )
    assert {row["symbol"] for row in rows} == {"program", "first", "(programs)"}


@pytest.mark.parametrize(
    "content", ["", "0000000000000000 T first\n", "ffff B the real System.map"]
)
def test_files_without_symbols_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "symbols").write_text(content)
    with pytest.raises(UserError, match=r"--symbols .*symbols: no symbols of code in it; write"):
        system.Symbols.read([tmp_path / "symbols"])


def test_truncated_elf_is_refused(tmp_path: Path) -> None:
    image = guest.assemble(f".set WORDS, {WORDS:#x}\n{CALLS}{MARKED_PROGRAM}", tmp_path)
    data = image.path.read_bytes()
    for size in (4, 40, len(data) // 2, len(data) - 100):
        (tmp_path / "cut").write_bytes(data[:size])
        with pytest.raises(UserError, match="cut: a damaged or truncated ELF"):
            system.Symbols.read([tmp_path / "cut"])
