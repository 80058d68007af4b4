"""Do the platform's services work: semihosting, the console, the CLINT and a UART?

The engine, the flat machine of these tests and the SST element share one implementation.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.isa import guest

WRITE0, GET_CMDLINE, EXIT, EXIT_EXTENDED = 0x04, 0x15, 0x18, 0x20
MSIP, MTIMECMP, MTIME, UART, MULTICAST = 0x02000000, 0x02004000, 0x0200BFF8, 0x10000000, 0x02010000
MINUS_ONE = 2**64 - 1
OP, ROI_ON, ROI_OFF, DELAY, START = 1, 2, 3, 5, 6
LOAD_FAULT = 5
LONGEST_DELAY = 10**15
SENTENCE = "longer than two doublewords"


def run(text: str, folder: Path, **options: object) -> guest.FlatMachine:
    machine = guest.machine(text, folder, **options)
    assert machine.run(100_000) == "exit", machine.fatal()
    return machine


@pytest.mark.parametrize("border", [8, 64, 4096], ids=["doubleword", "line", "page"])
@pytest.mark.parametrize("bytes_before", [0, 1, 7])
def test_a_string_across_a_doubleword_line_or_page_border_is_written_completely(
    border: int, bytes_before: int, tmp_path: Path
) -> None:
    text = f"""
        li a0, {WRITE0}
        la a1, text
        semihost
        mv s1, a0
        exit 0
    .balign 4096
        .space {4096 + border - bytes_before}, 'x'
    text: .asciz "{SENTENCE}" """
    machine = run(text, tmp_path)
    assert (machine.console, machine.registers()[9]) == (SENTENCE, 0)


def test_an_empty_string_writes_nothing(tmp_path: Path) -> None:
    text = f'li a0, {WRITE0}\n la a1, text\n semihost\n mv s1, a0\n exit 0\n text: .asciz ""'
    machine = run(text, tmp_path)
    assert (machine.console, machine.registers()[9]) == ("", 0)


@pytest.mark.parametrize("call", [GET_CMDLINE, 0x99, 2**63])
def test_unknown_semihosting_call_returns_minus_one(call: int, tmp_path: Path) -> None:
    machine = run(f"li a0, {call}\n li a1, 0\n semihost\n mv s1, a0\n exit 0", tmp_path)
    assert machine.registers()[9] == MINUS_ONE


@pytest.mark.parametrize("call", [EXIT, EXIT_EXTENDED])
@pytest.mark.parametrize("aligned", [8, 1], ids=["aligned", "across doublewords"])
def test_semihosting_exit_code_is_the_second_word_of_the_block(
    call: int, aligned: int, tmp_path: Path
) -> None:
    text = f"""
        li a0, {call}
        la a1, block
        semihost
    .balign 8
        .space {aligned % 8}
    block: .quad 0x20026, 0x0123456789abcdef"""
    assert run(text, tmp_path).exit_code == 0x0123456789ABCDEF


def test_console_lines_of_harts_that_write_at_the_same_time_are_not_mixed(tmp_path: Path) -> None:
    """Unfinished lines are printed when the run ends, in the order of the harts."""
    text = f"""
        li s0, {UART}
        csrr s1, mhartid
        addi s2, s1, 'a'
        li s3, '\\n'
        sb s2, (s0)
        sb s2, (s0)
        sb s3, (s0)
        sb s2, (s0)
        beqz s1, 1f
        wfi
    1:  li s4, 100
    2:  addi s4, s4, -1
        bnez s4, 2b
        exit 0"""
    assert run(text, tmp_path, harts=2).console == "aa\nbb\nab"


@pytest.mark.parametrize(
    ("load", "address", "value"),
    [
        ("lw", MSIP, 0),
        ("lw", MSIP + 4, 1),  # bit 0 of the value that hart 0 has stored there
        ("ld", MTIMECMP, MINUS_ONE),
        ("ld", MTIMECMP + 8, 1 << 40),
        ("lbu", UART, 0),
        ("lbu", UART + 5, 0x60),  # the transmitter is empty
    ],
)
def test_device_register_returns_its_value(
    load: str, address: int, value: int, tmp_path: Path
) -> None:
    text = f"""
        csrr t0, mhartid
        bnez t0, other
        li t0, {MSIP + 4}
        li t1, 7
        sw t1, (t0)
        li t0, {MTIMECMP + 8}
        li t1, {1 << 40}
        sd t1, (t0)
        li t0, {address}
        {load} s1, (t0)
        exit 0
    other:
        wfi
        j other"""
    assert run(text, tmp_path, harts=2).registers()[9] == value


def test_mtime_equals_the_time_csr(tmp_path: Path) -> None:
    x = run(f"li t0, {MTIME}\n rdtime s1\n ld s2, (t0)\n exit 0", tmp_path).registers()
    assert x[18] == x[9] + 1


@pytest.mark.parametrize(
    "address",
    [MSIP + 8, MTIMECMP - 4, MTIMECMP + 16, MTIME - 8, MTIME + 8, UART + 8, UART - 4, MULTICAST],
)
def test_access_to_an_address_without_a_device_register_faults(
    address: int, tmp_path: Path
) -> None:
    text = f"""
        la t0, handler
        csrw mtvec, t0
        li t0, {address}
        lw t1, (t0)
        exit 0
    .balign 4
    handler:
        csrr s1, mcause
        csrr s2, mtval
        exit 0"""
    x = run(text, tmp_path, harts=2).registers()
    assert (x[9], x[18]) == (LOAD_FAULT, address)


@pytest.mark.parametrize("begin", [START, ROI_ON])
def test_operations_are_measured_from_marker_to_marker(begin: int, tmp_path: Path) -> None:
    """Each operation of a batch gets an equal share of the batch's time. Operations outside the
    region have no latency.
    """
    text = f"""
        li a0, 4
        sltiu x0, x0, {OP}
        sltiu x0, x0, {begin}
        nop
        sltiu x0, x0, {OP}
        .rept 8
        nop
        .endr
        sltiu x0, a0, {OP}
        sltiu x0, x0, {ROI_OFF}
        sltiu x0, x0, {OP}
        exit 0"""
    marks = run(text, tmp_path).marks()
    assert marks == [(1, None, None), (0, None, None), (1, 2, None), (4, 2, None), (0, None, None),
                    (1, None, None)]  # fmt: skip


@pytest.mark.parametrize(("delay", "actual_delay"), [(0, 0), (1000, 1000), (-1, LONGEST_DELAY)])
def test_delay_marker_never_turns_the_clock_back(
    delay: int, actual_delay: int, tmp_path: Path
) -> None:
    marks = run(f"li a0, {delay}\n sltiu x0, a0, {DELAY}\n exit 0", tmp_path).marks()
    assert marks == [(0, None, actual_delay)]
