"""Do translation, page faults, delegation and fences of supervisor mode behave as the manual
says?
"""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.isa import guest

ROOT_TABLE, MIDDLE_TABLE, LEAF_TABLE, TOP_TABLE = (0x80040000 + 0x1000 * i for i in range(4))
SETUP = 0x80048000  # address of three words: medeleg, satp, and bits to set in mstatus
# physical pages that are mapped at PAGE and at PAGE + 4096
DATA, NEXT_DATA = 0x80050000, 0x80070000
PAGE = 0x40000000
V, R, W, X, U, G, A, D = (1 << i for i in range(8))
ALL_RIGHTS = V | R | W | X | A | D
SV39, SV48 = 8 << 60, 9 << 60
ANSWERS = ("now", "later", "retry")

# A trap to machine mode ends the run. Then s2 to s4 have cause, pc and value of the trap, and s5
# has the mode that took it.
TRAP_HANDLERS = """
.balign 4
machine_trap:
    csrr s2, mcause
    csrr s3, mepc
    csrr s4, mtval
    li s5, 3
    exit 0
.balign 4
supervisor_trap:
    csrr s2, scause
    csrr s3, sepc
    csrr s4, stval
    li s5, 1
    ecall
"""
# Enters supervisor mode with translation enabled; s6 has the address PAGE.
ENTER_SUPERVISOR = """
    la t0, machine_trap
    csrw mtvec, t0
    la t0, supervisor_trap
    csrw stvec, t0
    li t0, 0x1800
    csrc mstatus, t0
    li t0, {setup:#x}
    ld t1, 0(t0)
    csrw medeleg, t1
    ld t1, 8(t0)
    csrw satp, t1
    ld t1, 16(t0)
    csrs mstatus, t1
    ld t1, 24(t0)
    csrw mideleg, t1
    li s6, {page:#x}
    la t0, inside
    csrw mepc, t0
    mret
inside:
"""
EXIT = "\n ebreak\n"  # traps to machine mode, because ebreak is never delegated here


def entry(address: int, flags: int) -> int:
    return address >> 12 << 10 | flags


def tables(
    first_flags: int = ALL_RIGHTS, second_flags: int = ALL_RIGHTS, code_flags: int = ALL_RIGHTS
) -> dict[int, int]:
    """Returns page tables that map the code to itself by one page of 1 GiB, and two data pages of 4
    KiB.
    """
    return {
        ROOT_TABLE + 8 * 2: entry(0x80000000, code_flags),
        ROOT_TABLE + 8 * 1: entry(MIDDLE_TABLE, V),
        MIDDLE_TABLE: entry(LEAF_TABLE, V),
        LEAF_TABLE: entry(DATA, first_flags),
        LEAF_TABLE + 8: entry(NEXT_DATA, second_flags),
    }


@cache
def image(text: str) -> guest.Image:
    enter = ENTER_SUPERVISOR.format(setup=SETUP, page=PAGE)
    with TemporaryDirectory() as folder:
        return guest.assemble(enter + text + EXIT + TRAP_HANDLERS, Path(folder))


def run(
    text: str,
    entries: dict[int, int],
    *,
    satp: int = SV39 | ROOT_TABLE >> 12,
    status: int = 0,
    delegated: int = 0,
    answers: str = "now",
    harts: int = 1,
    delegated_interrupts: int = 0,
    interrupt_tick: int | None = None,
) -> Any:
    """Runs a program in supervisor mode. `delegated` and `delegated_interrupts` are the traps that
    supervisor mode takes. A software interrupt is raised at `interrupt_tick`.
    """
    machine = guest.boot(image(text), tlb=64, answers=answers, harts=harts)
    setup = {
        SETUP: delegated,
        SETUP + 8: satp,
        SETUP + 16: status | 1 << 11,
        SETUP + 24: delegated_interrupts,
    }
    for address, value in ({DATA: 0x1111, NEXT_DATA: 0x2222} | entries | setup).items():
        machine.write(address, struct.pack("<Q", value))
    if interrupt_tick is not None:
        machine.run(interrupt_tick)
        machine.interrupt(0, 1, True)
    end = machine.run(10_000)
    assert end == "exit", (end, machine.fatal(), hex(machine.pc()))
    return machine


def trapped(machine: Any) -> tuple[int, int, int]:
    """Returns the cause and the value of the trap, and the mode that took it."""
    x = machine.registers()
    return x[18], x[20], x[21]


def word(machine: Any, address: int) -> int:
    return int(struct.unpack("<Q", machine.read(address, 8))[0])


@pytest.mark.parametrize("answers", ANSWERS)
def test_access_is_translated_and_sets_the_a_and_d_bits_of_the_entry(answers: str) -> None:
    flags = V | R | W
    machine = run(
        "ld s7, (s6)\n li t0, 0x4001\n add t0, t0, s6\n sd s7, -1(t0)\n",
        tables(flags, flags) | {LEAF_TABLE + 32: entry(NEXT_DATA, flags)},
        answers=answers,
    )
    assert machine.registers()[23] == 0x1111
    assert word(machine, NEXT_DATA) == 0x1111
    assert word(machine, LEAF_TABLE) == entry(DATA, flags | A)
    assert word(machine, LEAF_TABLE + 8) == entry(NEXT_DATA, flags)
    assert word(machine, LEAF_TABLE + 32) == entry(NEXT_DATA, flags | A | D)


def test_sv48_translates_through_four_levels() -> None:
    top = {TOP_TABLE: entry(ROOT_TABLE, V)}
    machine = run("ld s7, (s6)\n", tables() | top, satp=SV48 | TOP_TABLE >> 12)
    assert machine.registers()[23] == 0x1111


LOAD, STORE, JUMP = "ld s7, (s6)\n", "sd s7, (s6)\n", "jr s6\n"
ATOMIC_ADD = "amoadd.d s7, s7, (s6)\n"
LOAD_RESERVED = "lr.d s7, (s6)\n"


@pytest.mark.parametrize(
    ("flags", "line", "cause"),
    [
        (0, LOAD, 13),
        (0, STORE, 15),
        (0, JUMP, 12),
        (0, ATOMIC_ADD, 15),
        (0, LOAD_RESERVED, 13),
        (V | W | A | D, LOAD, 13),
        (V | W | X | A | D, STORE, 15),
        (V | W | X | A | D, JUMP, 12),
        (V | R | A | D, STORE, 15),
        (V | R | A | D, ATOMIC_ADD, 15),
        (V | R | W | A | D, JUMP, 12),
        (ALL_RIGHTS | U, LOAD, 13),
        (ALL_RIGHTS | U, JUMP, 12),
        (V | X | A, LOAD, 13),
        (ALL_RIGHTS | 1 << 54, LOAD, 13),
        (V | A | D, LOAD, 13),
    ],
)
def test_page_fault_has_its_cause_and_address(flags: int, line: str, cause: int) -> None:
    machine = run(line, tables(flags))
    assert trapped(machine) == (cause, PAGE, 3)


@pytest.mark.parametrize("bit", [18, 19])
def test_sum_and_mxr_allow_loads_from_user_and_executable_pages(bit: int) -> None:
    """SUM allows accesses to user pages, and MXR allows loads from executable pages."""
    flags = {18: ALL_RIGHTS | U, 19: V | X | A}[bit]
    machine = run(LOAD, tables(flags), status=1 << bit)
    assert machine.registers()[23] == 0x1111


def test_supervisor_mode_does_not_execute_user_pages() -> None:
    machine = run(JUMP, tables(ALL_RIGHTS | U), status=1 << 18)
    assert trapped(machine) == (12, PAGE, 3)


def test_page_fault_is_delegated_to_supervisor_mode() -> None:
    machine = run(LOAD, tables(0), delegated=1 << 13)
    x = machine.registers()
    # the last trap is the ecall of the handler, to machine mode
    assert (x[18], x[5 + 16]) == (9, 3)
    assert machine.csr(0, 0x142) == 13
    assert machine.csr(0, 0x143) == PAGE


@pytest.mark.parametrize(("user", "cause"), [(True, 8), (False, 9)])
def test_ecall_traps_with_the_cause_of_its_mode(user: bool, cause: int) -> None:
    text = "la t0, there\n csrw sepc, t0\n li t0, 0x100\n"
    text += ("csrc" if user else "csrs") + " sstatus, t0\n sret\n there: ecall\n"
    machine = run(text, tables(code_flags=ALL_RIGHTS | (U if user else 0)), satp=0)
    assert trapped(machine)[0] == cause


def test_user_mode_cannot_access_supervisor_pages() -> None:
    text = "la t0, there\n csrw sepc, t0\n li t0, 0x100\n csrc sstatus, t0\n sret\n"
    machine = run(text + "there: ld s7, (s6)\n", tables())
    assert trapped(machine)[0] == 12  # even fetching the code faults


REMAP = f"""
    ld s7, (s6)
    li t0, {LEAF_TABLE:#x}
    li t1, {entry(NEXT_DATA, ALL_RIGHTS):#x}
    sd t1, (t0)
    ld s8, (s6)
    {{fence}}
    ld s9, (s6)
"""


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize(
    "fence", ["sfence.vma", "sfence.vma s6", "sfence.vma s6, zero", "sfence.vma zero, zero"]
)
def test_sfence_discards_cached_translations(fence: str, answers: str) -> None:
    x = run(REMAP.format(fence=fence), tables(), answers=answers).registers()
    assert (x[23], x[24], x[25]) == (0x1111, 0x1111, 0x2222)


def test_sfence_of_another_page_or_address_space_keeps_a_cached_translation() -> None:
    fence = "li t2, 0x1000\n add t2, t2, s6\n sfence.vma t2\n li t2, 5\n sfence.vma zero, t2"
    assert run(REMAP.format(fence=fence), tables()).registers()[25] == 0x1111


def test_sfence_of_all_the_other_pages_keeps_a_cached_translation() -> None:
    fences = """
        li t2, 511
    1:  slli t1, t2, 12
        add t1, t1, s6
        sfence.vma t1
        addi t2, t2, -1
        bnez t2, 1b
    """
    assert run(REMAP.format(fence=fences), tables()).registers()[25] == 0x1111


def test_sfence_of_an_address_space_keeps_translations_of_global_pages() -> None:
    fence = "mv t2, zero\n sfence.vma zero, t2"
    assert run(REMAP.format(fence=fence), tables(ALL_RIGHTS | G)).registers()[25] == 0x1111
    assert run(REMAP.format(fence=fence), tables()).registers()[25] == 0x2222


def test_access_to_a_non_canonical_address_faults() -> None:
    """The bits above the translated ones must be copies of the highest translated bit."""
    text = "li t0, 1\n slli t0, t0, 39\n add s6, s6, t0\n"
    machine = run(text + LOAD, tables())
    assert trapped(machine) == (13, PAGE | 1 << 39, 3)


@pytest.mark.parametrize("is_global", [True, False])
def test_address_spaces_have_separate_translations(is_global: bool) -> None:
    """A translation of an ordinary page is valid only in its own address space, and that of a
    global page in all.
    """
    switch = f"li t1, {SV39 | 7 << 44 | ROOT_TABLE >> 12:#x}\n csrw satp, t1"
    flags = ALL_RIGHTS | (G if is_global else 0)
    x = run(REMAP.format(fence=switch), tables(flags)).registers()
    assert x[25] == (0x1111 if is_global else 0x2222)


@pytest.mark.parametrize("answers", ANSWERS)
def test_access_across_two_pages_reaches_both_physical_pages(answers: str) -> None:
    text = "li t0, 0xffc\n add t0, t0, s6\n li s7, 0x1122334455667788\n sd s7, (t0)\n ld s8, (t0)\n"
    machine = run(text, tables(), answers=answers)
    assert machine.registers()[24] == 0x1122334455667788
    assert machine.read(DATA + 0xFFC, 4) == bytes.fromhex("88776655")
    assert machine.read(NEXT_DATA, 4) == bytes.fromhex("44332211")


def test_store_across_two_pages_writes_nothing_if_the_second_page_faults() -> None:
    text = "li t0, 0xffc\n add t0, t0, s6\n li s7, -1\n sd s7, (t0)\n"
    machine = run(text, tables(second_flags=0))
    assert trapped(machine)[0] == 15
    assert machine.read(DATA + 0xFFC, 4) == bytes(4)


@pytest.mark.parametrize("answers", ANSWERS)
def test_instruction_across_two_physically_separate_pages_is_executed(answers: str) -> None:
    """The instruction is `li s7, 77`, which has four bytes, and an ebreak follows."""
    text = f"""
        li t0, {DATA + 0xFFE:#x}
        li t1, 0x0b93
        sh t1, (t0)
        li t0, {NEXT_DATA:#x}
        li t1, 0x00100073
        slli t1, t1, 16
        li t2, 0x04d0
        or t1, t1, t2
        sd t1, (t0)
        fence.i
        li t0, 0xffe
        add t0, t0, s6
        jr t0
    """
    machine = run(text, tables(), answers=answers)
    assert machine.registers()[23] == 77
    assert trapped(machine)[0] == 3


JUMP_BACK = 0x8D02  # c.jr s10
OTHER_CODE = 0x80078000


def second_half(number: int) -> int:
    """Returns the second half of `addi s7, zero, number`, and a jump back after it."""
    return number << 4 | JUMP_BACK << 16


def test_instruction_across_two_pages_changes_with_its_second_half() -> None:
    """The program rewrites the second half of the instruction, and then maps another page in its
    place.
    """
    call = "li t0, 0xffe\n add t0, t0, s6\n jalr s10, t0\n"
    text = f"""
        {call}
        mv s8, s7
        li t0, {NEXT_DATA:#x}
        li t1, {second_half(70):#x}
        sw t1, (t0)
        fence.i
        {call}
        mv s9, s7
        li t0, {LEAF_TABLE + 8:#x}
        li t1, {entry(OTHER_CODE, ALL_RIGHTS):#x}
        sd t1, (t0)
        sfence.vma
        {call}
    """
    code = {DATA + 0xFF8: 0x0B93 << 48, NEXT_DATA: second_half(77), OTHER_CODE: second_half(80)}
    x = run(text, tables() | code).registers()
    assert (x[24], x[25], x[23]) == (77, 70, 80)


@pytest.mark.parametrize("fence", ["sfence.vma", "sfence.vma s6"])
def test_sfence_discards_the_decoded_code_of_a_page(fence: str) -> None:
    text = f"""
        li t0, 4096
        add s6, s6, t0
        jalr s10, 0(s6)
        mv s8, s7
        li t0, {LEAF_TABLE + 8:#x}
        li t1, {entry(DATA, ALL_RIGHTS):#x}
        sd t1, (t0)
        jalr s10, 0(s6)
        mv s9, s7
        {fence}
        jalr s10, 0(s6)
    """
    code = {
        address: JUMP_BACK << 32 | number << 20 | 0x0B93
        for address, number in ((NEXT_DATA, 70), (DATA, 80))
    }
    x = run(text, tables() | code).registers()
    assert (x[24], x[25], x[23]) == (70, 70, 80)


def test_instruction_across_two_pages_changes_if_its_second_page_has_no_other_code() -> None:
    """The instruction becomes `jr 4(s10)` instead of `jr 0(s10)`."""
    text = f"""
        .option norvc
        li t0, 0xffe
        add t0, t0, s6
        jalr s10, t0
        addi s8, s8, 1
        li t1, {NEXT_DATA:#x}
        li t2, 0x4d
        sh t2, (t1)
        fence.i
        jalr s10, t0
        addi s8, s8, 2
    """
    machine = run(text, tables() | {DATA + 0xFF8: 0x0067 << 48, NEXT_DATA: 0x0D})
    assert machine.registers()[24] == 1


def test_page_table_entry_that_is_executed_changes_when_a_walk_sets_its_d_bit() -> None:
    """The page-table entry is also executed as code: `jr 0x200(t0)`, and `jalr ra, 0x200(t0)` after
    it has been marked dirty.
    """
    text = ""
    for register in ("s8", "s9"):
        text += f"""
            la t0, 1f
            addi t0, t0, -0x200
            li t1, {LEAF_TABLE:#x}
            mv ra, zero
            jr t1
        1:  mv {register}, ra
            sd zero, (s6)
            fence.i
        """
    x = run(text, tables() | {LEAF_TABLE: entry(0x800A0000, V | R | W | G | A)}).registers()
    assert (x[24], x[25]) == (0, LEAF_TABLE + 4)


TURNS = 0x8004A000  # words that say which hart's turn it is, and which hart came first
# The hart that comes first writes code three times. The other hart executes the code each time,
# after a fence. Before the first time, no hart has executed anything there.
WRITE_AND_EXECUTE = f"""
    li s11, {TURNS:#x}
    li t1, 1
    addi t0, s11, 8
    amoadd.w t1, t1, (t0)
    li t2, {JUMP_BACK << 32 | 0x0B93:#x}
    bnez t1, executes
    .irp number, 70, 80, 90
    li t1, \\number
    slli t1, t1, 20
    add t1, t1, t2
    sd t1, (s6)
    li t1, 1
    sw t1, (s11)
1:  lw t1, (s11)
    bnez t1, 1b
    .endr
    j .
executes:
    .irp register, s8, s9, a5
1:  lw t1, (s11)
    beqz t1, 1b
    fence.i
    jalr s10, 0(s6)
    mv \\register, s7
    sw zero, (s11)
    .endr
"""


@pytest.mark.parametrize("answers", ANSWERS)
def test_code_written_by_another_hart_is_executed_after_fence_i(answers: str) -> None:
    text = WRITE_AND_EXECUTE
    x = run(text, tables(), answers=answers, harts=2).registers(1)
    assert (x[24], x[25], x[15]) == (70, 80, 90)


ENTER_USER_MODE = "la t0, there\n csrw sepc, t0\n li t0, 0x100\n csrc sstatus, t0\n sret\n there:\n"


@pytest.mark.parametrize(
    ("bit", "line", "cause"),
    [(20, "csrr t0, satp", 2), (20, "sfence.vma", 2), (20, "csrr t0, stvec", 3), (22, "sret", 2)],
)
def test_instructions_that_machine_mode_disables_trap(bit: int, line: str, cause: int) -> None:
    """TVM and TSR disable exactly the instructions that the manual names."""
    assert trapped(run(line, tables(), status=1 << bit))[0] == cause


def test_wfi_traps_in_user_mode() -> None:
    assert (
        trapped(run(ENTER_USER_MODE + "wfi\n", tables(code_flags=ALL_RIGHTS | U), satp=0))[0] == 2
    )


def test_sret_sets_spp_to_user_mode() -> None:
    text = ENTER_USER_MODE.replace("csrc", "csrs") + "csrr s7, sstatus\n"
    assert run(text, tables(), satp=0).registers()[23] & 0x100 == 0


def test_interrupts_are_delegated_by_mideleg() -> None:
    text = "csrsi sie, 2\n csrsi sstatus, 2\n j .\n"
    machine = run(text, tables(), delegated_interrupts=2, interrupt_tick=100)
    assert machine.csr(0, 0x142) == 1 << 63 | 1


def test_misaligned_large_page_faults() -> None:
    machine = run(LOAD, tables() | {MIDDLE_TABLE: entry(DATA, ALL_RIGHTS)})
    assert trapped(machine)[0] == 13


def test_write_of_an_unsupported_mode_leaves_satp_unchanged() -> None:
    text = "csrr s7, satp\n li t0, 5\n slli t0, t0, 60\n csrw satp, t0\n csrr s8, satp\n"
    x = run(text, tables()).registers()
    assert x[23] == x[24] == SV39 | ROOT_TABLE >> 12


@pytest.mark.parametrize("line", ["sret", "sfence.vma", "csrr t0, satp", "csrr t0, stvec"])
def test_supervisor_instructions_trap_on_a_hart_without_supervisor_mode(
    tmp_path: Path, line: str
) -> None:
    setup = "la t0, machine_trap\n csrw mtvec, t0\n"
    machine = guest.machine(setup + line + EXIT + TRAP_HANDLERS, tmp_path)
    assert machine.run(1000) == "exit"
    assert machine.registers()[18] == 2
