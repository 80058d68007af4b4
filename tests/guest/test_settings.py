"""Does a parameter mean what the user wrote, and does nonsense get an answer that helps?"""

from __future__ import annotations

import pytest

from uncore.errors import UserError
from uncore.program import Parameter, Program, abi, find


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


WRONG = [
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


@pytest.mark.parametrize(("name", "text"), WRONG)
def test_bad_value_says_what_was_expected(ticket: Program, name: str, text: str) -> None:
    with pytest.raises(UserError, match=rf"parameter {name}=.*expected .*such as"):
        ticket.canonical({name: text})


def test_unknown_name_lists_what_exists(ticket: Program) -> None:
    with pytest.raises(UserError) as error:
        ticket.canonical({"hodl": "50ns"})
    assert "'hodl'" in str(error.value) and "Did you mean 'hold'?" in str(error.value)
    assert all(param.name in str(error.value) for param in ticket.params)


def test_a_choice_is_read_by_its_words() -> None:
    pairs = find("latency/pingpong").parameter("pairs")
    assert [pairs.parse("all"), pairs.parse("one")] == [0, 1]
    assert pairs.show(1) == "one"
    with pytest.raises(UserError, match="expected one of all, one"):
        pairs.parse("onne")


def test_booleans_and_signed_numbers_are_read() -> None:
    flag = Parameter("flag", "bool", "", "", 0, 0)
    assert [flag.parse(word) for word in ("true", "off", True, 0)] == [1, 0, 1, 0]
    signed = Parameter("signed", "i64", "", "", 0, 0)
    assert signed.parse("-5") == -5
    assert abi.pack(-5) == (2**64 - 5).to_bytes(8, "little")


def test_equal_numbers_have_one_canonical_text(ticket: Program) -> None:
    assert ticket.canonical({"hold": "0.05us", "ops": "1_000"}) == {"hold": "50ns", "ops": "1000"}
    assert ticket.canonical({"hold": "50ns", "ops": 1000}) == {"hold": "50ns", "ops": "1000"}


def test_defaults_are_the_initial_values_of_the_source() -> None:
    params = {p.name: p for p in find("latency/pingpong").params}
    assert (params["rounds"].default, params["rounds"].unit) == (100, "round trips")
    assert (params["b"].default, params["b"].type) == (1, "u64")


def test_image_holds_boot_block_and_values(ticket: Program) -> None:
    boot = {"harts": 8, "nodes": 2, "node_size": 1 << 30, "timebase_hz": 10**9}
    image = dict(ticket.patched(**boot, values={"hold": "7ns"}))

    def words(address: int, count: int) -> list[int]:
        start, data = next((a, d) for a, d in image.items() if a <= address < a + len(d))
        at = address - start
        return memoryview(data[at : at + 8 * count]).cast("Q").tolist()

    fields = abi.FIELDS["uc_boot"][1:]
    block = words(ticket.symbol("uc_boot").address + 8, len(fields))
    assert dict(zip(fields, block, strict=True)) == boot | {"clock": 0, "multicast": 0, "report": 0}
    assert words(ticket.parameter("hold").address, 1) == [7]
    assert words(ticket.parameter("ops").address, 1) == [100]


def test_a_program_is_a_value(ticket: Program) -> None:
    assert ticket == find("lock/ticket") and hash(ticket) == hash(find("lock/ticket"))
    assert ticket.sha256 != find("lock/mcs").sha256
