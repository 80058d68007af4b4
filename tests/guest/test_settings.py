"""Are parameters of workloads read correctly, and are bad values refused with a helpful message?"""

from __future__ import annotations

import pytest

from uncore.engine import initial_memory
from uncore.errors import UserError
from uncore.execution.request import make_job
from uncore.program import Parameter, Program, abi, find
from uncore.program.program import Image


@pytest.fixture
def ticket() -> Program:
    return find("lock/ticket")


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("50ns", 50),
        ("1.5us", 1500),
        ("0.25 ms", 250_000),
        ("2s", 2 * 10**9),
        ("3000ps", 3),
        ("0", 0),
    ],
)
def test_a_duration_is_read_in_any_unit(ticket: Program, text: str, nanoseconds: int) -> None:
    hold = ticket.parameter("hold")
    assert hold.parse(text) == nanoseconds
    assert hold.parse(hold.show(nanoseconds)) == nanoseconds


BAD_VALUES = [
    ("hold", "50"),
    ("hold", "50 parsecs"),
    ("hold", "0.5ns"),
    ("hold", "-1ns"),
    ("hold", ""),
    ("hold", "9" * 19 + "s"),
    ("ops", "many"),
    ("ops", "-1"),
    ("ops", "1.5"),
    ("ops", "0x"),
    ("ops", str(1 << 64)),
    ("ops", "9" * 5000),
    ("ops", "\u0663"),
]


@pytest.mark.parametrize(("name", "text"), BAD_VALUES)
def test_message_for_a_bad_value_says_what_was_expected(
    ticket: Program, name: str, text: str
) -> None:
    with pytest.raises(UserError, match=rf"parameter {name}=.*expected .*such as"):
        ticket.canonical({name: text})


def test_message_for_an_unknown_parameter_lists_all_parameters(ticket: Program) -> None:
    with pytest.raises(UserError) as error:
        ticket.canonical({"hodl": "50ns"})
    assert "'hodl'" in str(error.value) and "Did you mean 'hold'?" in str(error.value)
    assert all(param.name in str(error.value) for param in ticket.params)


def test_choice_parameter_is_read_and_written_as_a_word() -> None:
    pairs = find("latency/pingpong").parameter("pairs")
    assert [pairs.parse("all"), pairs.parse("one")] == [0, 1]
    assert pairs.show(1) == "one"
    with pytest.raises(UserError, match="expected one of all, one"):
        pairs.parse("onne")


def test_boolean_and_signed_parameters_are_read() -> None:
    flag = Parameter("flag", "bool", "", "", 0, 0)
    assert [flag.parse(word) for word in ("true", "off", True, 0)] == [1, 0, 1, 0]
    signed = Parameter("signed", "i64", "", "", 0, 0)
    assert signed.parse("-5") == -5
    assert abi.pack(-5) == (2**64 - 5).to_bytes(8, "little")


def test_equal_values_have_one_canonical_text(ticket: Program) -> None:
    assert ticket.canonical({"hold": "0.05us", "ops": "1_000"}) == {"hold": "50ns", "ops": "1000"}
    assert ticket.canonical({"hold": "50ns", "ops": 1000}) == {"hold": "50ns", "ops": "1000"}


def test_default_of_a_parameter_is_its_initial_value_in_the_source() -> None:
    params = {p.name: p for p in find("latency/pingpong").params}
    assert (params["rounds"].default, params["rounds"].unit) == (100, "round trips")
    assert (params["b"].default, params["b"].type) == (1, "u64")


def words(image: Image, address: int, count: int) -> list[int]:
    """Returns `count` 64-bit words of initial memory from this address on."""
    start, data = next((a, d) for a, d in image if a <= address < a + len(d))
    offset = address - start
    return memoryview(data[offset : offset + 8 * count]).cast("Q").tolist()


def boot_block(program: Program, image: Image) -> dict[str, int]:
    fields = abi.FIELDS["uc_boot"][1:]
    values = words(image, program.symbol("uc_boot").address + 8, len(fields))
    return dict(zip(fields, values, strict=True))


def test_memory_image_contains_boot_block_and_parameter_values(ticket: Program) -> None:
    boot = {"harts": 8, "nodes": 2, "node_size": 1 << 30, "timebase_hz": 10**9}
    image = ticket.patched(**boot, values={"hold": "7ns"})
    assert boot_block(ticket, image) == boot | {"clock": 0, "multicast": 0, "report": 0}
    assert words(image, ticket.parameter("hold").address, 1) == [7]
    assert words(image, ticket.parameter("ops").address, 1) == [100]


@pytest.mark.parametrize(("group", "harts"), [("0", 4), ("2", 2)])
def test_boot_block_has_multicast_only_for_an_engine_with_multicast(group: str, harts: int) -> None:
    """I5.3: if the boot block has no multicast, the program sends one interrupt after the other."""
    overrides = {"interrupt.multicast": "yes", "interrupt.harts_per_message": group}
    job = make_job("bus:4", "ipi/broadcast", (4,), overrides=overrides)
    for features, expected in (({"multicast"}, harts), ((), 0)):
        image = initial_memory.memory(job, features)
        assert boot_block(job.program, image)["multicast"] == expected


def test_program_that_is_loaded_twice_equals_itself_and_no_other_program(ticket: Program) -> None:
    assert ticket == find("lock/ticket") and hash(ticket) == hash(find("lock/ticket"))
    assert ticket.sha256 != find("lock/mcs").sha256
