"""Does each gap in docs/deviations.md still exist, with the size that the page states?

If a gap closes, one of these tests fails, and the page must change.  The numbers are those of the
page.  The machine is `line` of tests/support/line.py: a load that hits takes 1 + 4 ns, a lookup in
the second level 9 ns, a line from memory 9 + 20 + 6 + 60 + 24 ns.
"""

from __future__ import annotations

import dataclasses
from enum import IntEnum
from functools import cache
from pathlib import Path

import pytest
from tests.support.line import NS, A, B, H, line, way
from tests.support.plans import Do, Step, steps
from tests.support.runs import point

from uncore import program, topology
from uncore.errors import GuestError
from uncore.program.abi import CONSTANTS
from uncore.topology import Machine
from uncore.topology.schema import LINE_SIZES

LINES_OF_A_PATTERN = 16  # number of lines that a pattern of programs/gaps.c accesses
L1, L2, SERVICE, MEMORY = 4, 9, 6, 60
FETCH = L2 + way("control", B, H) + SERVICE + MEMORY + way("data", H, B)  # core 1 is at stop B


class Pattern(IntEnum):
    """The patterns of programs/gaps.c."""

    SEQUENTIAL = 0
    SCATTERED = 1
    INDEPENDENT = 2
    CHAINED = 3
    STORES = 4
    STRAIGHT = 5
    REGULAR = 6
    CYCLIC = 7


MESSAGE = Path(__file__).parent / "programs/message.c"


@cache
def guest() -> program.Program:
    return program.compile(Path(__file__).parent / "programs/gaps.c")


def cost(pattern: Pattern, machine: Machine | None = None, *, again: bool = False) -> int:
    """Returns the ns that a pattern takes on the second core of a machine when it runs for the
    first time, with cold caches. If `again`, returns the ns of its second time.
    """
    outcome = point(machine or line(), guest(), 2)
    return int(outcome["tables"]["cost"][pattern][again])


def test_gap_g1_at_most_the_adjacent_line_is_prefetched() -> None:
    """Consecutive lines cost as much as scattered lines: one full miss for each line, or for each
    pair of adjacent lines.
    """
    for pattern in (Pattern.SEQUENTIAL, Pattern.SCATTERED):
        assert cost(pattern) - cost(pattern, again=True) == LINES_OF_A_PATTERN * FETCH
    adjacent = line(core={"prefetch": "adjacent", "misses": LINES_OF_A_PATTERN})
    walk = cost(Pattern.SEQUENTIAL, adjacent) - cost(Pattern.SEQUENTIAL, adjacent, again=True)
    assert LINES_OF_A_PATTERN // 2 * FETCH <= walk < LINES_OF_A_PATTERN // 2 * (FETCH + SERVICE)
    far = cost(Pattern.SCATTERED, adjacent) - cost(Pattern.SCATTERED, adjacent, again=True)
    assert far == LINES_OF_A_PATTERN * FETCH


def test_gap_g2_a_core_waits_for_each_hit_and_executes_nothing_after_a_miss() -> None:
    """Hits of loads with known addresses do not overlap. Misses overlap if the core has a window;
    otherwise they cost as much as a chain of pointers, apart from the loop.
    """
    hits = [cost(Pattern.INDEPENDENT, line(core={"l1_hit": n * NS}), again=True) for n in (0, L1)]
    assert hits[1] - hits[0] >= LINES_OF_A_PATTERN * L1
    ahead = line(core={"window": 200, "misses": LINES_OF_A_PATTERN})
    assert cost(Pattern.INDEPENDENT, ahead) < cost(Pattern.CHAINED, ahead) / 4
    assert cost(Pattern.INDEPENDENT) == pytest.approx(cost(Pattern.CHAINED), abs=LINES_OF_A_PATTERN)


def test_gap_g3_a_core_requests_the_lines_of_all_buffered_stores_or_only_of_the_oldest() -> None:
    """Stores in the buffer fetch their lines either one at a time or all at once, whatever the size
    of the buffer.
    """
    ahead = line(core={"store_buffer": 64, "store_ahead": True})
    assert cost(Pattern.STORES, ahead) < LINES_OF_A_PATTERN * FETCH / 4
    roomy = line(core={"store_buffer": 64})
    assert cost(Pattern.STORES, roomy) > LINES_OF_A_PATTERN * FETCH
    assert cost(Pattern.STORES, line(core={"store_buffer": 1})) > LINES_OF_A_PATTERN * FETCH


def test_gap_g4_instructions_are_fetched_at_no_cost() -> None:
    assert cost(Pattern.STRAIGHT) == cost(Pattern.STRAIGHT, again=True)


def test_gap_g5_no_pattern_of_branches_is_predicted() -> None:
    """The branch is taken every second time; a history of one bit would predict it."""
    blind = line(core={"mispredict": 0})
    lost = cost(Pattern.REGULAR, again=True) - cost(Pattern.REGULAR, blind, again=True)
    assert lost >= 256 // 2 * 15  # 15 ns for each misprediction


def test_gap_g6_exactly_the_least_recently_used_line_is_evicted() -> None:
    """Nine lines are accessed in turn in a set of eight ways, so no access hits the first level."""
    wide = line(core={"l1_ways": 16})
    lost = cost(Pattern.CYCLIC, again=True) - cost(Pattern.CYCLIC, wide, again=True)
    assert lost == 9 * L2


def test_gap_g7_a_program_without_a_kernel_has_no_tlb_misses_and_no_page_walks() -> None:
    """Lines in many pages take as long as lines in one page, because there is no TLB miss."""
    paged, dense = (cost(p, again=True) for p in (Pattern.SCATTERED, Pattern.SEQUENTIAL))
    assert (
        paged - dense < 2 * LINES_OF_A_PATTERN
    )  # the loops differ by a few instructions and a misprediction


def test_gap_g8_a_memory_has_no_banks_and_rows() -> None:
    """Memory takes as long for a line that is adjacent to the previous one as for any other."""
    far, near = (cost(p) - cost(p, again=True) for p in (Pattern.SCATTERED, Pattern.SEQUENTIAL))
    assert far == near


def test_gap_g9_a_core_keeps_its_clock_with_any_number_of_busy_cores() -> None:
    work = [Step(1000, Do.COMPUTE)]
    alone = steps(line(), [work])[0][0].cost
    assert [spans[0].cost for spans in steps(line(), [work] * 3)] == [alone] * 3


def test_gap_g10_a_busy_resolver_does_not_delay_messages_that_pass_it() -> None:
    """A resolver that is busy for a long time does not delay messages that only pass its stop."""
    slow = line(resolver={"service": 5000 * NS, "slices": (A,)})
    crowd = [Step(1000, Do.LOAD, 1)]
    passing = [Step(2000, Do.IPI, 2)]
    quiet = steps(line(), [[], passing, [Step(1000, Do.SLEEP)]])[2][0]
    loud = steps(slow, [crowd, passing, [Step(1000, Do.SLEEP)]])[2][0]
    assert loud == quiet


def test_gap_g11_programs_are_padded_for_lines_of_at_most_128_bytes() -> None:
    """Adjacent blocks of 128 bytes belong to two harts, but share one line of 256 bytes."""
    mine = [Step(1000, Do.AMO, 1), Step(9000, Do.LOAD, 1)]
    plans = [mine, [Step(3000, Do.AMO, 0), Step(6000, Do.AMO, 2)]]
    costs = {
        size: steps(line(line=size), plans, stride=CONSTANTS["UC_BLOCK"])[0][1].cost
        for size in LINE_SIZES
    }
    assert costs == {
        64: L1,
        128: L1,
        256: L1 + L2 + way("control", A, H) + SERVICE + way("snoop", H, B) + L2 + way("data", B, A),
    }


@pytest.mark.parametrize(
    ("what", "word"),
    [
        ("an addition in half precision", 0x04000053),  # fadd.h f0, f0, f0
        ("a vector configuration", 0x0000F057),  # vsetvli x0, x1, e8
        ("a cache-block flush", 0x0020200F),  # cbo.flush (x0)
    ],
)
def test_gap_g12_vector_half_precision_and_cache_block_instructions_trap(
    tmp_path: Path, what: str, word: int
) -> None:
    source = tmp_path / "foreign.c"
    source.write_text(
        f'#include "uncore.h"\nUC_WORKLOAD("{what}");\nvoid uc_main(unsigned id, unsigned n) {{\n'
        f'  (void)id; (void)n;\n  __asm__ volatile(".word {word:#x}");\n}}\n'
    )
    with pytest.raises(GuestError, match=r"mcause=2|illegal"):
        point(line(), program.compile(source), 1)


def test_gap_g13_a_line_with_only_sharers_is_read_from_memory() -> None:
    """D1: if a line has only sharers, memory serves a read, although a core is nearer."""
    read = [Step(1000, Do.LOAD)]
    again = [Step(5000, Do.LOAD)]
    third = [Step(9000, Do.LOAD)]
    for protocol in ("msi", "mesi", "moesi"):
        spans = steps(dataclasses.replace(line(), protocol=protocol), [read, again, third])
        assert spans[2][0].cost >= L2 + SERVICE + MEMORY


def test_gap_g14_total_store_order_hides_a_missing_memory_order() -> None:
    """With relaxed orders, the reader gets the old message only on weakly ordered cores."""
    message = program.compile(MESSAGE)

    def old(order: str) -> list[str]:
        machine = topology.load("ring:8", [f"core.order={order}"])
        seen = (point(machine, message, 2, seeds=(seed,)) for seed in range(1, 21))
        return [failure for run in seen for failure in run["failures"]]

    assert not old("tso")
    assert any("old" in failure for failure in old("weak"))


def test_gap_g15_a_sibling_of_a_pausing_hart_runs_at_full_or_at_half_speed() -> None:
    """Hart 1 pauses in a loop, for longer and longer times. Hart 0 runs either at full or at half
    speed, never in between.
    """
    plans = [
        [Step(1000, Do.COMPUTE)],
        [Step(500, Do.AWAIT_PAUSING, 9)],
        [Step(3000, Do.SET, 9)],
    ]
    took = []
    for pause in (1, 4, 16, 64):
        machine = line(core={"smt_share": 500, "pause": pause * NS}, threads_per_core=2)
        took.append(steps(machine, plans, placement="siblings")[0][0].cost)
    assert took[0] == took[1] > 1.8 * took[2]
    assert took[2] == took[3]
