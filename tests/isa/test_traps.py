"""Do traps, interrupts, sleep and the special instructions behave as the manual says?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.isa import guest

LOG = 0x80080000
INTERRUPT = 1 << 63
MSI, MTI = 3, 7
MEPC, MCAUSE, MTVAL, MIP = 0x341, 0x342, 0x343, 0x344

SETUP = """
    la t0, vectors
    ori t0, t0, {mode}
    csrw mtvec, t0
"""
# In vectored mode, interrupt n enters the table at 4n; otherwise all traps enter it at 0.
VECTORS = """
.balign 256
vectors:
    .option push
    .option norvc
    j common
    .rept 15
    j vectored
    .endr
    .option pop
common:
    li s1, 1
    j record
vectored:
    li s1, 2
record:
    csrr s2, mcause
    csrr s3, mepc
    csrr s4, mtval
    csrr s5, mstatus
    exit 0
"""


def run(text: str, folder: Path, ticks: int = 10_000, **options: Any) -> Any:
    machine = guest.machine(text, folder, **options)
    end = machine.run(ticks)
    assert end == "exit", (end, machine.fatal(), hex(machine.pc()))
    return machine


def trapped(text: str, folder: Path, mode: int = 0, **options: Any) -> dict[str, int]:
    """Runs a program that traps. Returns the values that the handler saw."""
    x = run(SETUP.format(mode=mode) + text + VECTORS, folder, **options).registers()
    return {"entry": x[9], "cause": x[18], "epc": x[19], "tval": x[20], "status": x[21] & 0x1888}


ENABLE_FLOATS = "li t0, 0x2000\n csrs mstatus, t0\n"


@pytest.mark.parametrize(
    ("line", "cause", "tval"),
    [
        ("here: ecall", 11, 0),
        (".option norvc\n here: ebreak", 3, 0),
        ("here: c.ebreak", 3, 0),
        ("here: .word 0xffffffff", 2, 0xFFFFFFFF),
        ("here: .half 0", 2, 0),
        ("li a0, 1\n here: lw t0, (a0)", 4, 1),
        ("li a0, 0x02000002\n here: sw t0, (a0)", 6, 0x02000002),
        ("li a0, 0x80000002\n here: lr.w t0, (a0)", 4, 0x80000002),
        ("li a0, 0x80000002\n here: sc.w t1, t0, (a0)", 6, 0x80000002),
        ("li a0, 0x80000004\n here: amoadd.d t1, t0, (a0)", 6, 0x80000004),
        # the end of the access is outside memory
        ("li a0, 0x800ffffc\n here: sd t0, (a0)", 7, 0x800FFFFC),
        ("li a0, 0x08000000\n here: ld t0, (a0)", 5, 0x08000000),
        ("li a0, 0x08000000\n here: sd t0, (a0)", 7, 0x08000000),
        ("li a0, -8\n here: ld t0, (a0)", 5, 2**64 - 8),
        ("li a0, 0x800ffffe\n lh t0, (a0)\n here: lhu t0, 2(a0)", 5, 0x80100000),
        ("here: .word 0x5c001073", 2, 0x5C001073),  # csrw of a CSR that does not exist
        ("here: .word 0xf1401073", 2, 0xF1401073),  # csrw mhartid
        ("here: csrw 0xc02, a0", 2, 0xC0251073),
        ("here: fadd.s f0, f0, f0, rne", 2, 0x53),  # FS is off
        ("here: flw f0, (sp)", 2, 0x00012007),
        (".option norvc\n here: fsd f0, (sp)", 2, 0x00013027),
        ("here: c.fldsp f8, 0(sp)", 2, 0x2402),
        ("here: csrr a0, fcsr", 2, 0x00302573),
        (
            ENABLE_FLOATS + "here: .word 0x00005053",
            2,
            0x5053,
        ),  # fadd.s with a reserved rounding mode
        (ENABLE_FLOATS + "csrwi frm, 6\n here: fadd.s f0, f0, f0, dyn", 2, 0x7053),
    ],
)
def test_an_exception_sets_mcause_mepc_and_mtval(
    line: str, cause: int, tval: int, tmp_path: Path
) -> None:
    trap = trapped(line, tmp_path)
    address = guest.assemble(SETUP.format(mode=0) + line + VECTORS, tmp_path).labels["here"]
    assert trap["epc"] == address
    assert (trap["entry"], trap["cause"], trap["tval"]) == (1, cause, tval)
    assert trap["status"] == 0x1800  # MPP is machine mode, and MIE and MPIE are clear


@pytest.mark.parametrize(
    ("line", "dirty"),
    [
        ("fmv.x.d a0, f0", False),
        ("fsd f0, (s0)", False),
        ("csrr a0, fcsr", False),
        ("fld f0, (s0)", True),
        ("flw f0, (s0)", True),
        ("fneg.s f0, f0", True),
        ("fdiv.d f0, f0, f0", True),
        ("csrwi frm, 0", True),
    ],
)
def test_instructions_that_change_floating_point_state_make_fs_dirty(
    line: str, dirty: bool, tmp_path: Path
) -> None:
    text = f"li s0, {LOG}\n{ENABLE_FLOATS}csrr s1, mstatus\n{line}\ncsrr s2, mstatus\nexit 0"
    x = run(text, tmp_path).registers()
    state = [(value >> 13 & 3, value >> 63) for value in (x[9], x[18])]
    assert state == [(1, 0), (3, 1) if dirty else (1, 0)]


def test_an_exception_takes_a_cycle_but_does_not_count_as_an_instruction(tmp_path: Path) -> None:
    text = SETUP.format(mode=0) + "rdcycle s6\n rdinstret s7\n ecall" + VECTORS
    text = text.replace("li s1, 1", "rdcycle s8\n rdinstret s9")
    x = run(text, tmp_path).registers()
    assert (x[24] - x[22], x[25] - x[23]) == (4, 3)  # rdcycle, rdinstret, (ecall), j, rdcycle


def test_a_jump_to_unmapped_memory_traps_at_its_target(tmp_path: Path) -> None:
    trap = trapped("li a0, 0x70000000\n jr a0", tmp_path)
    assert (trap["cause"], trap["epc"], trap["tval"]) == (1, 0x70000000, 0x70000000)


ENTER_USER_MODE = """
    la t0, 1f
    csrw mepc, t0
    li t0, 0x1800
    csrc mstatus, t0
    mret
    1:
"""


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("here: ecall", 8),
        ("here: mret", 2),
        ("here: csrr t0, mstatus", 2),
        ("here: csrw mscratch, t0", 2),
        ("here: rdcycle t0", 2),  # mcounteren does not allow it
        ("here: .word 0xffffffff", 2),
    ],
)
def test_instructions_that_user_mode_forbids_trap(line: str, cause: int, tmp_path: Path) -> None:
    trap = trapped(ENTER_USER_MODE + line, tmp_path)
    address = guest.assemble(
        SETUP.format(mode=0) + ENTER_USER_MODE + line + VECTORS, tmp_path
    ).labels["here"]
    assert (trap["cause"], trap["epc"]) == (cause, address)
    assert trap["status"] == 0  # the trap came from user mode, in which interrupts were disabled


def test_user_mode_reads_only_counters_that_mcounteren_allows(tmp_path: Path) -> None:
    trap = trapped(
        f"li t0, 5\n csrw mcounteren, t0\n{ENTER_USER_MODE} rdcycle s6\n rdinstret s7\n rdtime s8",
        tmp_path,
    )
    assert (trap["cause"], trap["tval"] >> 20) == (2, 0xC01)


def test_an_interrupt_is_always_enabled_in_user_mode(tmp_path: Path) -> None:
    text = RAISE_INTERRUPTS.format(enable=1 << MTI, timer=TIMER, software="").replace(
        "csrsi mstatus, 8", ENTER_USER_MODE
    )
    assert trapped(text, tmp_path)["cause"] == INTERRUPT | MTI


def test_wfi_traps_in_user_mode_if_mstatus_tw_is_set(tmp_path: Path) -> None:
    assert (
        trapped(f"li t0, 1 << 21\n csrs mstatus, t0\n{ENTER_USER_MODE} here: wfi", tmp_path)[
            "cause"
        ]
        == 2
    )


def test_user_mode_without_a_trap_handler_stops_at_each_trap_and_can_continue(
    tmp_path: Path,
) -> None:
    image = guest.assemble("li a7, 64\n here: ecall\n li a0, 2\n again: .half 0", tmp_path)
    machine = guest.boot(image)
    machine.go_on(guest.BASE)
    assert machine.run(100) == "fatal"
    assert machine.fatal() == (8, 0, image.labels["here"])
    machine.go_on(image.labels["here"] + 4)
    assert machine.run(100) == "fatal"
    assert machine.fatal() == (2, 0, image.labels["again"])
    assert machine.registers()[10] == 2
    assert machine.counters()["instructions"] == 2


RAISE_INTERRUPTS = """
    li t0, 0x02000000
    li t1, 1
    li t2, {enable}
    csrw mie, t2
    li t3, 0x02004000
    {timer}
    {software}
    csrsi mstatus, 8
here:
    j here
"""
TIMER, SOFTWARE = "sd x0, (t3)", "sw t1, (t0)"


@pytest.mark.parametrize(("mode", "entry"), [(0, 1), (1, 2)])
@pytest.mark.parametrize(
    ("enable", "timer", "software", "cause"),
    [
        (1 << MSI, "", SOFTWARE, MSI),
        (1 << MTI, TIMER, "", MTI),
        (1 << MSI | 1 << MTI, TIMER, SOFTWARE, MSI),  # software interrupts have priority
        (1 << MTI, TIMER, SOFTWARE, MTI),
    ],
)
def test_an_enabled_interrupt_is_taken_at_the_next_instruction(
    enable: int, timer: str, software: str, cause: int, mode: int, entry: int, tmp_path: Path
) -> None:
    text = RAISE_INTERRUPTS.format(enable=enable, timer=timer, software=software)
    machine = run(SETUP.format(mode=mode) + text + VECTORS, tmp_path)
    x = machine.registers()
    assert (x[9], x[18], x[20]) == (entry, INTERRUPT | cause, 0)
    address = guest.assemble(SETUP.format(mode=mode) + text + VECTORS, tmp_path).labels["here"]
    assert x[19] == address
    assert x[21] & 0x1888 == 0x1880  # MPIE is set, because interrupts were enabled


def test_a_disabled_interrupt_remains_pending(tmp_path: Path) -> None:
    text = RAISE_INTERRUPTS.format(enable=0, timer=TIMER, software=SOFTWARE)
    machine = guest.machine(SETUP.format(mode=0) + text + VECTORS, tmp_path)
    assert machine.run(1000) == "time"
    assert machine.csr(0, MIP) == 1 << MSI | 1 << MTI


def test_an_exception_in_vectored_mode_enters_the_handler_at_the_base(tmp_path: Path) -> None:
    assert trapped("ecall", tmp_path, mode=1)["entry"] == 1


def test_mret_restores_the_interrupt_enable_that_the_trap_saved(tmp_path: Path) -> None:
    text = """
        la t0, handler
        csrw mtvec, t0
        csrsi mstatus, 8
        ecall
        csrr s2, mstatus
        exit 0
    .balign 4
    handler:
        csrr s1, mstatus
        csrr t0, mepc
        addi t0, t0, 4
        csrw mepc, t0
        mret"""
    x = run(text, tmp_path).registers()
    # After mret, MPP is the least privileged mode.
    assert (x[9] & 0x1888, x[18] & 0x1888) == (0x1880, 0x0088)


WAIT_FOR_TIMER = """
    li t2, {enable}
    csrw mie, t2
    li t0, 0x02004000
    li t1, 500
    sd t1, (t0)
    {before}
    wfi
    rdcycle s6
    j done
done:
    exit 0
"""


def test_wfi_sleeps_until_an_interrupt_is_pending_even_if_interrupts_are_disabled(
    tmp_path: Path,
) -> None:
    machine = run(
        SETUP.format(mode=0) + WAIT_FOR_TIMER.format(enable=1 << MTI, before="") + VECTORS, tmp_path
    )
    x = machine.registers()
    assert x[9] == 0  # no trap was taken
    assert 500 <= x[22] <= 502
    # the hart slept, because a loop would execute more
    assert machine.counters()["instructions"] < 60


def test_wfi_does_not_sleep_while_an_interrupt_is_pending(tmp_path: Path) -> None:
    before = "sd x0, (t0)\n rdcycle s7"
    text = SETUP.format(mode=0) + WAIT_FOR_TIMER.format(enable=1 << MTI, before=before) + VECTORS
    x = run(text, tmp_path, quantum=100).registers()
    assert x[22] - x[23] == 2


def test_an_interrupt_that_ends_a_wfi_has_mepc_after_the_wfi(tmp_path: Path) -> None:
    text = WAIT_FOR_TIMER.format(enable=1 << MTI, before="csrsi mstatus, 8").replace(
        "rdcycle", "here: rdcycle"
    )
    text = SETUP.format(mode=0) + text + VECTORS
    x = run(text, tmp_path).registers()
    assert x[18] == INTERRUPT | MTI
    assert x[19] == guest.assemble(text, tmp_path).labels["here"]


def test_a_run_in_which_all_harts_sleep_for_ever_ends_as_idle(tmp_path: Path) -> None:
    assert guest.machine("wfi\n exit 0", tmp_path).run(1 << 40) == "idle"


def test_a_software_interrupt_wakes_another_hart(tmp_path: Path) -> None:
    text = """
        li s0, 0x02000000
        csrr t0, mhartid
        bnez t0, other
        li t1, 1
        sw t1, 4(s0)            # an interrupt for hart 1
    1:  lw t1, 4(s0)            # until it has cleared it
        bnez t1, 1b
        exit 0
    other:
        li t0, 8
        csrw mie, t0
        wfi
        sw x0, 4(s0)
    1:  j 1b"""
    run(text, tmp_path, harts=2)


@pytest.mark.parametrize(
    ("text", "cause", "place"),
    [
        ("here: ecall", 11, "here"),  # mtvec is 0
        ("li t0, 0x40000000\n csrw mtvec, t0\n here: ecall", 11, "here"),
        ("la t0, here\n csrw mtvec, t0\n j here\n .balign 4\n here: ecall", 11, "here"),
        ("la t0, f\n csrw mtvec, t0\n ecall\n .balign 4\n f: jr x0", 1, None),
    ],
)
def test_a_trap_without_a_handler_is_fatal(
    text: str, cause: int, place: str | None, tmp_path: Path
) -> None:
    image = guest.assemble(text, tmp_path)
    machine = guest.boot(image)
    assert machine.run(100_000) == "fatal"
    assert machine.fatal()[0] == cause
    assert machine.fatal()[2] == (image.labels[place] if place else 0)


def test_only_an_ebreak_between_the_markers_is_a_semihosting_call(tmp_path: Path) -> None:
    text = """
        la t0, handler
        csrw mtvec, t0
        li a0, 4
        la a1, hello
        semihost
        .option norvc
        slli x0, x0, 0x1f
        ebreak                  # without the mark behind it: a breakpoint
        nop
        exit 1
    .balign 4
    handler:
        exit 7
    hello: .asciz "hello\\n" """
    machine = run(text, tmp_path)
    assert machine.console == "hello\n"
    assert machine.exit_code == 7


@pytest.mark.parametrize("beyond_text", [False, True], ids=["decoded text", "behind it"])
def test_modified_code_is_executed_after_fence_i(beyond_text: bool, tmp_path: Path) -> None:
    text = """
        li s0, 3
        li s1, 0
    again:
        call patch
        addi s0, s0, -1
        beqz s0, done
        la t0, patch
        lw t1, (t0)
        li t2, 0x100000         # one more in the immediate of addi
        add t1, t1, t2
        sw t1, (t0)
        fence.i
        j again
    done:
        exit 0
    .balign 4
    .option norvc
    patch:
        addi s1, s1, 1
        ret"""
    assert run(text, tmp_path).registers()[9] == 1 + 2 + 3


OFFSET_BITS = {
    "c.j {}": 11, "c.beqz a0, {}": 8, "c.bnez a1, {}": 8, "beq x0, x0, {}": 12, "j {}": 18,
}  # fmt: skip


@pytest.mark.parametrize("line", OFFSET_BITS)
def test_jumps_and_branches_reach_every_offset_that_they_can_encode(
    line: str, tmp_path: Path
) -> None:
    """The program jumps forward to a target and back. Everything in between is illegal
    instructions.
    """
    text = "li a0, 0\n li a1, 1\n li s1, 0\n"
    for bit in range(5, OFFSET_BITS[line]):
        space = f".space {(1 << bit) - 8}"
        text += f"""
            {line.format(f"there{bit}")}
            {space}
        back{bit}:
            addi s1, s1, 1
            j end{bit}
        there{bit}:
            addi s1, s1, 1
            j 1f
        1:  {line.format(f"back{bit}")}
            .half 0
        end{bit}:"""
    machine = run(text + "\nexit 0", tmp_path)
    assert machine.registers()[9] == 2 * (OFFSET_BITS[line] - 5)


def test_markers_report_their_code_and_value(tmp_path: Path) -> None:
    text = "li a0, 1234\n sltiu x0, a0, 5\n sltiu x0, a0, -1\n sltiu a0, a0, 5\n exit 0"
    assert run(text, tmp_path).markers() == [(0, 5, 1234), (0, 0xFFF, 1234)]


def test_counters_count_and_can_be_set(tmp_path: Path) -> None:
    text = """
        rdinstret s1
        nop
        rdinstret s2
        li t0, 1000
        csrw minstret, t0
        csrr s3, minstret
        csrw mcycle, t0
        nop
        rdcycle s4
        rdtime s5
        exit 0"""
    x = run(text, tmp_path).registers()
    assert x[18] - x[9] == 2
    assert (x[19], x[20], x[21]) == (1000, 1001, 9)


@pytest.mark.parametrize("mispredict", [0, 7])
def test_only_conditional_branches_against_the_prediction_count_as_mispredicted(
    mispredict: int, tmp_path: Path
) -> None:
    text = "li t0, 10\n 1: addi t0, t0, -1\n bnez t0, 1b\n beqz t0, 2f\n nop\n 2: j 3f\n 3: wfi"
    machine = guest.machine(text, tmp_path, mispredict=mispredict)
    machine.run(10_000)
    counters = machine.counters()
    assert counters["branches"] == 11
    # the exit from the loop, and the first taken forward branch
    assert counters["mispredicts"] == 2
    assert counters["instructions"] == 1 + 20 + 1 + 1 + 1
