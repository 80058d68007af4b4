"""Are parameters read as the user meant them, and does nonsense give a helpful message?"""

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


def test_a_choice_parameter_parses_and_shows_its_words() -> None:
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


def words(image: Image, address: int, count: int) -> list[int]:
    """Returns words of initial memory."""
    start, data = next((a, d) for a, d in image if a <= address < a + len(d))
    at = address - start
    return memoryview(data[at : at + 8 * count]).cast("Q").tolist()


def boot_block(program: Program, image: Image) -> dict[str, int]:
    fields = abi.FIELDS["uc_boot"][1:]
    values = words(image, program.symbol("uc_boot").address + 8, len(fields))
    return dict(zip(fields, values, strict=True))


def test_image_holds_boot_block_and_values(ticket: Program) -> None:
    boot = {"harts": 8, "nodes": 2, "node_size": 1 << 30, "timebase_hz": 10**9}
    image = ticket.patched(**boot, values={"hold": "7ns"})
    assert boot_block(ticket, image) == boot | {"clock": 0, "multicast": 0, "report": 0}
    assert words(image, ticket.parameter("hold").address, 1) == [7]
    assert words(image, ticket.parameter("ops").address, 1) == [100]


@pytest.mark.parametrize(("group", "harts"), [("0", 4), ("2", 2)])
def test_boot_block_states_multicast_only_for_an_engine_that_has_it(group: str, harts: int) -> None:
    """I5.3: without multicast the program sends one interrupt after the other."""
    overrides = {"interrupt.multicast": "yes", "interrupt.harts_per_message": group}
    job = make_job("bus:4", "ipi/broadcast", (4,), overrides=overrides)
    for can, told in (({"multicast"}, harts), ((), 0)):
        image = initial_memory.memory(job, can)
        assert boot_block(job.program, image)["multicast"] == told


def test_equal_programs_are_equal_values(ticket: Program) -> None:
    assert ticket == find("lock/ticket") and hash(ticket) == hash(find("lock/ticket"))
    assert ticket.sha256 != find("lock/mcs").sha256
