"""Does a hart wait for a load that hits only at the first use of its value, as rule H10 says?

All durations are those of line.py: a hit takes four instructions.
"""

from __future__ import annotations

from enum import IntEnum

import pytest
from tests.support.line import line
from tests.support.rule_costs import ATOMIC, L2, LOAD, MISPREDICT
from tests.support.runs import guest, point

NOPS = 24


class Code(IntEnum):
    """The instructions that programs/hits.c measures."""

    UNUSED = 0
    NEXT_ADDRESS = 1
    LATER_ADDRESS = 2
    LATE_ADDRESS = 3
    COMPUTED_ADDRESS = 4
    OVERWRITTEN = 5
    STORE_ADDRESS = 6
    STORED = 7
    BRANCH = 8
    ADDRESS_BEHIND_BRANCH = 9
    FULL_FENCE = 10
    ACQUIRE_FENCE = 11
    ATOMIC = 12
    TWO_USES = 13
    BEHIND_INDIRECT_JUMP = 14
    BEHIND_JUMP = 15
    CHAIN = 16


def duration(code: Code, stalls: bool = True, **core: int) -> int:
    """Returns the duration of the instructions, in ns."""
    machine = line(core={"stall_on_use": stalls, **core})
    outcome = point(machine, guest("hits"), 1, code=int(code))
    assert not outcome["failures"]
    return int(outcome["tables"]["duration"][0][0]) - NOPS - 1


@pytest.mark.parametrize(
    ("code", "instructions", "stalled"),
    [
        (Code.UNUSED, 1, 0),
        (Code.NEXT_ADDRESS, 2, LOAD),
        (Code.LATER_ADDRESS, 4, LOAD - 2),
        (Code.LATE_ADDRESS, 6, 0),
        (Code.COMPUTED_ADDRESS, 3, LOAD - 1),
        (Code.OVERWRITTEN, 3, 0),
        (Code.STORE_ADDRESS, 2, LOAD),
        (Code.STORED, 2, 0),
        (Code.BRANCH, 2, 0),
        (Code.ADDRESS_BEHIND_BRANCH, 3, LOAD - 1),
        (Code.FULL_FENCE, 2, LOAD),
        (Code.ACQUIRE_FENCE, 2, 0),
        (Code.ATOMIC, 3, LOAD - 1 + ATOMIC),
        (Code.TWO_USES, 4, LOAD - 1),
        (Code.BEHIND_JUMP, 3, LOAD - 1),
    ],
)
def test_load_that_hits_stalls_its_hart_until_the_first_use(
    code: Code, instructions: int, stalled: int
) -> None:
    """H10, H10.2, H10.3: the instructions before the first use hide their time of the hit."""
    assert duration(code) == instructions + stalled


def test_expected_path_ends_at_an_indirect_jump() -> None:
    """H10.1: the load's value is used behind `jr`, which nobody looks through; `la` is two
    instructions.
    """
    assert duration(Code.BEHIND_INDIRECT_JUMP) == 5


def test_expected_path_takes_backward_branches() -> None:
    """H10.1: in a loop, each load waits for the address that the one before it has read; the last
    iteration is mispredicted.
    """
    assert duration(Code.CHAIN) == 2 + 10 * (3 + LOAD - 2) + MISPREDICT


def test_hit_in_the_second_level_hides_only_the_time_of_the_first() -> None:
    """H10: `l2_hit` is added in full."""
    one_line = {"l1_sets": 1, "l1_ways": 1}
    assert duration(Code.UNUSED, **one_line) == 1 + L2


@pytest.mark.parametrize("code", [Code.UNUSED, Code.LATER_ADDRESS, Code.STORED, Code.BRANCH])
def test_load_that_hits_stalls_at_once_unless_the_machine_says_otherwise(code: Code) -> None:
    """H1.1: every load takes its whole time by default."""
    loads = 2 if code is Code.LATER_ADDRESS else 1
    assert duration(code, stalls=False) >= 1 + loads * LOAD
