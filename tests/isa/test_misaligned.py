"""Do misaligned loads and stores have the right results, both as a single access and as two?"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.isa import guest

DATA, LINE = 0x80080000, 64
LOADS = {"lh": 2, "lhu": 2, "lw": 4, "lwu": 4, "ld": 8}
STORES = {"sh": 2, "sw": 4, "sd": 8}
BYTES = bytes(range(0x79, 0x79 + 2 * LINE))


def run(text: str, folder: Path, answers: str) -> guest.FlatMachine:
    machine = guest.machine(text, folder, answers=answers)
    machine.write(DATA, BYTES)
    assert machine.run(100_000) == "exit", machine.fatal()
    return machine


@pytest.mark.parametrize("answers", ["now", "later", "retry"])
def test_a_misaligned_load_reads_the_bytes_at_its_address(answers: str, tmp_path: Path) -> None:
    text, expected = f"li s0, {DATA}\nli s1, {DATA + 4096}\n", []
    for name, size in LOADS.items():
        for offset in range(1, LINE + 8):
            text += f"addi t0, s0, {offset}\n{name} t0, (t0)\nsd t0, (s1)\naddi s1, s1, 8\n"
            signed = not name.endswith("u")
            value = int.from_bytes(BYTES[offset : offset + size], "little", signed=signed)
            expected.append(value % 2**64)
    machine = run(text + "exit 0", tmp_path, answers)
    count = len(expected)
    assert list(struct.unpack(f"<{count}Q", machine.read(DATA + 4096, 8 * count))) == expected


@pytest.mark.parametrize("answers", ["now", "later", "retry"])
@pytest.mark.parametrize("name", STORES)
def test_a_misaligned_store_writes_the_bytes_at_its_address(
    name: str, answers: str, tmp_path: Path
) -> None:
    value, expected = 0x1122334455667788, bytearray(BYTES)
    text = f"li s0, {DATA}\nli t1, {value}\n"
    for offset in (1, 13, LINE - 7, LINE - 3, LINE - 1, LINE + 27):
        text += f"{name} t1, {offset}(s0)\n"
        expected[offset : offset + STORES[name]] = value.to_bytes(8, "little")[: STORES[name]]
    assert run(text + "exit 0", tmp_path, answers).read(DATA, 2 * LINE) == expected


def test_an_access_that_crosses_a_line_counts_as_one_instruction(tmp_path: Path) -> None:
    text = (
        f"li s0, {DATA}\nrdinstret s1\nld t0, {LINE - 4}(s0)\nsd t0, 60(s0)\nrdinstret s2\nexit 0"
    )
    x = run(text, tmp_path, "now").registers()
    assert x[18] - x[9] == 3


def test_no_interrupt_is_taken_between_the_two_accesses_of_one_load(tmp_path: Path) -> None:
    """An interrupt is raised at each tick in turn. The handler finds the load either complete or
    not begun.
    """
    image = guest.assemble(
        f"""
        la t0, handler
        csrw mtvec, t0
        li t0, 8
        csrw mie, t0
        csrsi mstatus, 8
        li s0, {DATA + LINE - 4}
        li s1, 0
        ld s1, (s0)
    done:
        j done
    .balign 4
    handler:
        csrr s2, mepc
        exit 0""",
        tmp_path,
    )
    complete = int.from_bytes(BYTES[LINE - 4 :][:8], "little")
    values = set()
    for tick in range(8, 20):
        machine = guest.boot(image, warming=3)
        machine.write(DATA, BYTES)
        machine.run(tick)
        machine.interrupt(0, 3, True)
        assert machine.run(1000) == "exit"
        x = machine.registers()
        assert x[9] == (complete if x[18] >= image.labels["done"] else 0)
        values.add(x[9])
    assert values == {0, complete}
