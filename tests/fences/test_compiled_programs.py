"""Does `uncore fences` find the orders that a compiled program needs, by address?"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.fences.test_asking import Outcome, called
from tests.linux.programs import BARE, HERE, program

from uncore.errors import UserError
from uncore.program import Program
from uncore.study.fences import instructions
from uncore.study.fences.instructions import _NOP, _stated_order

QUICK_OPTIONS = ("ccx:2x4", "bus:8", "--threads", "2", "--seeds", "8", "--cores", "1", "--json")
COMPILED = (str(HERE / "hands.c"), f"--cflags={shlex.join(BARE)}")
FENCE_RW_RW, FENCE_R_RW, FENCE_RW_W, FENCE_TSO = 0x0330000F, 0x0230000F, 0x0310000F, 0x8330000F
PAUSE, FENCE_I, FENCE_W_W = 0x0100000F, 0x0000100F, 0x0110000F
AMOADD_W, LR_D = 0x00B5262F & ~0x7000 | 0x2000, 0x100535AF  # amoadd.w a2,a1,(a0); lr.d a1,(a0)
AQ, RL = 1 << 26, 1 << 25


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("uncore.support.paths.CACHE", tmp_path_factory.mktemp("cache"))
        return called("fences", *COMPILED, *QUICK_OPTIONS, "--", "fences")


def test_fences_that_a_program_needs_are_found_with_commands_that_repeat_their_failures(
    answered: Outcome,
) -> None:
    status, out, err = answered
    assert status == 0, err
    rows = {(row["place"].partition(" (")[0], row["weakened"]): row for row in json.loads(out)}
    assert rows["as written", ""]["verdict"] == "passes"
    assert rows["all at once", "relaxed"]["verdict"] == "needed"
    lines = (HERE / "hands.c").read_text().splitlines()
    release, acquire = (
        next(n for n, line in enumerate(lines, 1) if f"ATOMIC_{order})" in line)
        for order in ("RELEASE", "ACQUIRE")
    )
    for line, says in ((release, "fence rw,w release"), (acquire, "fence r,rw acquire")):
        row = rows[f"hands.c:{line}", "relaxed"]
        assert (row["says"], row["verdict"]) == (says, "needed")
        _, *arguments = shlex.split(row["failure"]["repeat"])
        status, out, _ = called(*arguments)
        assert status == 1 and "exit status 1" in out


def test_program_that_fails_unchanged_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("uncore.support.paths.CACHE", tmp_path)
    status, _, err = called("fences", *COMPILED, *QUICK_OPTIONS, "--at-once", "--", "none")
    assert status == 1 and "fails as it is written" in err


@pytest.mark.parametrize(
    ("word", "says", "weaker"),
    [
        (FENCE_R_RW, "fence r,rw acquire", {"relaxed": _NOP}),
        (FENCE_RW_W, "fence rw,w release", {"relaxed": _NOP}),
        (FENCE_W_W, "fence w,w", {"relaxed": _NOP}),
        (
            FENCE_TSO,
            "fence rw,rw acq_rel",
            {"relaxed": _NOP, "acquire": FENCE_R_RW, "release": FENCE_RW_W},
        ),
        (
            FENCE_RW_RW | 0xCC << 20,  # also orders accesses to devices
            "fence rw,rw seq_cst",
            {
                "relaxed": _NOP,
                "acquire": FENCE_R_RW,
                "release": FENCE_RW_W,
                "acq_rel": FENCE_TSO,
            },
        ),
        (AMOADD_W | AQ, "amoadd.w acquire", {"relaxed": AMOADD_W}),
        (
            AMOADD_W | AQ | RL,
            "amoadd.w acq_rel",
            {"relaxed": AMOADD_W, "acquire": AMOADD_W | AQ, "release": AMOADD_W | RL},
        ),
        (LR_D | RL, "lr.d release", {"relaxed": LR_D}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_instruction_is_weakened_to_each_order_below_its_own(
    word: int, says: str, weaker: dict[str, int]
) -> None:
    stated = _stated_order(word)
    assert stated and (stated[0], {w.order: w.word for w in stated[1]}) == (says, weaker)
    assert stated[1][0].order == "relaxed"  # the weakest order is tried first


@pytest.mark.parametrize("word", [AMOADD_W, LR_D, PAUSE, FENCE_I, 0x00B50533], ids=hex)
def test_instruction_without_an_order_is_not_weakened(word: int) -> None:
    assert _stated_order(word) is None


def test_weakened_program_differs_in_one_instruction_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("uncore.support.paths.CACHE", tmp_path)
    source = instructions.read(program("hands"))
    order = source.orders[-1]
    weakened = source.compiled([(order, order.weaker[0])])
    assert weakened.path.read_bytes() == weakened.data
    before, after = (dict(instructions._instructions(p)) for p in (source.program, weakened))
    changed = {at for at in before if before[at] != after[at]}
    assert changed == {order.address} and after[order.address] == order.weaker[0].word


def test_program_without_debug_information_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Program, "line_table", ())
    monkeypatch.setattr("uncore.program.frames.Frames.at", lambda *_: ())
    with pytest.raises(UserError, match=r"has no debug information.*compile it with -g"):
        instructions.read(program("hands"))
