"""Does `uncore validate --only locks` compute the errors of simulated locks correctly?

These tests check a sample of the command's comparisons, and its arithmetic.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from uncore import topology
from uncore.execution.execute import execute
from uncore_lab.validate import lock_curves as locks
from uncore_lab.validate import lockhammer
from uncore_lab.validate.bar import Bar, exceeded
from uncore_lab.validate.lock_curves import LockPoint
from uncore_lab.validate.lockhammer import Ns, Spot

MACHINES = lockhammer.machines_with_figures()
SIZES = ("data.size", "data.ways", "resolver.entries", "resolver.ways")


def curve(spots: list[Spot], simulated: list[float]) -> list[LockPoint]:
    return [LockPoint(spot, Ns(ns, ns, ns)) for spot, ns in zip(spots, simulated, strict=True)]


@pytest.mark.parametrize("machine", MACHINES)
def test_every_lock_curve_on_file_has_a_time_for_each_number_of_threads(machine: str) -> None:
    measured, harts = lockhammer.read(machine), topology.load(machine).harts
    for primitive in [lockhammer.HARNESS, *lockhammer.PRIMITIVES, lockhammer.SLEEPING]:
        for hold, think in lockhammer.SETTINGS:
            curve = measured.ns[primitive][f"{hold}-{think}"]
            assert len(curve.median) == len(curve.p20) == len(curve.p80) == harts
            middle = zip(curve.p20, curve.median, curve.p80, strict=True)
            assert all(low <= ns <= high for low, ns, high in middle)


@pytest.mark.parametrize("machine", MACHINES)
def test_simulated_threads_are_placed_as_the_measured_threads_were_pinned(machine: str) -> None:
    """On all hosts the threads of a core are filled one after the other; x86-1 fills one complex
    after the other.
    """
    resolved = topology.load(machine)
    spot = Spot(machine, "incdec_refcount", 0, 0, resolved.harts)
    placed = spot.job().harts
    assert sorted(placed) == list(range(resolved.harts))
    cores = [resolved.core_of(hart) for hart in placed]
    assert cores[::2] == cores[1::2]
    assert placed == tuple(range(resolved.harts))


@pytest.mark.parametrize("machine", MACHINES)
def test_files_of_lock_hosts_state_only_a_clock_and_sizes(machine: str) -> None:
    """A host's own file may state clocks, places of cores, and sizes. Times and counts come from
    the family's file.
    """
    numbers = topology.load(machine).numbers
    own = {number.key for number in numbers if Path(number.file).stem == machine}
    sizes = {f"socket.{part}" for part in SIZES}
    assert own - sizes == {"core.clock"}


def test_quick_thread_counts_are_powers_of_two_and_all_threads() -> None:
    assert lockhammer.read("broadwell10x2").doubling() == [1, 2, 4, 8, 16, 32, 40]
    assert lockhammer.read("naples32").doubling() == [1, 2, 4, 8, 16, 32, 64]


def test_harness_time_is_subtracted_at_hold_0_and_think_0() -> None:
    bare, held = (Spot("skylake24", "ticket_spinlock", hold, 0, 24) for hold in (0, 1000))
    assert bare.measured.median == pytest.approx(266.8 - 1.7)
    assert held.measured.median == pytest.approx(1189.8)
    point = locks.measure([bare])[0]
    whole, harness = (lockhammer.simulated(execute([s.job()])[0]) for s in (bare, bare.harness))
    assert point.simulated == whole.minus(harness.median)


def test_simulated_hold_and_think_are_as_long_as_the_measured_empty_lock_shows() -> None:
    """Loops take 1.77 times as long on both threads of a Broadwell's core, except while a lock is
    held.
    """
    alone, beside = (Spot("broadwell10x2", "cas_lockref", 1000, 5000, n) for n in (1, 2))
    assert alone.time_parameters == {"hold": "999ns", "think": "4997ns", "spin": "time"}
    assert beside.time_parameters == {"hold": "1771ns", "think": "8854ns", "spin": "time"}
    held = Spot("broadwell10x2", "swap_mutex", 1000, 5000, 2)
    assert held.time_parameters == beside.time_parameters | {"hold": "1000ns"}


def test_hold_is_subtracted_from_the_time_of_a_lock_but_not_of_a_reference_count() -> None:
    """A lock excludes other threads, so the hold is subtracted from its time. With a count no
    thread waits for the hold of another.
    """
    lock = Spot("skylake24", "ticket_spinlock", 1000, 0, 24)
    assert lock.error(1000 + 2 * 189.8) == pytest.approx(100)
    think = Spot("skylake24", "ticket_spinlock", 1000, 5000, 24)
    assert think.error(2 * think.measured.median) == pytest.approx(100)
    count = Spot("skylake24", "incdec_refcount", 1000, 0, 24)
    assert count.error(2 * count.measured.median) == pytest.approx(100)
    shorter = Spot("broadwell10x2", "queued_spinlock", 1000, 0, 40)
    assert shorter.error(1100) == math.inf


def test_law_of_a_ticket_lock_is_fitted_to_the_points_of_one_socket() -> None:
    spots = [Spot("skylake24", "ticket_spinlock", 0, 0, n) for n in (1, 2, 4, 8, 16, 32, 48)]
    points = curve(spots, [0, 0, *(50 + 7 * n / 2 for n in (4, 8, 16, 32, 48))])
    ours, real = locks._laws(points)
    assert ours == pytest.approx((50, 7))
    # these values were read from a plot by eye, and include the harness
    assert real == pytest.approx((85, 15.4), rel=0.1)


def test_knee_is_the_least_thread_count_with_nine_tenths_of_the_best_throughput() -> None:
    spots = [Spot("skylake24", "ticket_spinlock", 200, 1000, n) for n in (1, 2, 4, 8)]
    ours, real = locks._knees(curve(spots, [1200, 600, 310, 300]))
    assert (ours, real) == (4, 4)
    exactly, _ = locks._knees(curve(spots, [1200, 600, 300, 270]))
    assert exactly == 4  # exactly nine tenths of the best throughput is enough


def test_a_bound_that_does_not_hold_is_reported() -> None:
    most, least = Bar("error", 60, 15, "%"), Bar("near", 25, 90, "%", least=True)
    assert exceeded([(most, 60), (least, 25)]) == []
    assert exceeded([(most, 61), (least, 24)]) == [most.text(61), least.text(24)]


@pytest.mark.parametrize("machine", MACHINES)
def test_twice_as_many_operations_leave_the_median_times_of_locks_within_5_percent(
    machine: str,
) -> None:
    """Lockhammer's threads do 5000 operations each. Simulated threads do fewer, and twice as many
    operations give the same errors.
    """
    spots = [
        Spot(machine, primitive, 0, 0, 16)
        for primitive in ("incdec_refcount", "ticket_spinlock", "swap_mutex", "queued_spinlock")
    ]
    few = locks.measure(spots)
    many = locks.measure(spots, ops=2 * max(lockhammer.MIN_THREAD_OPS, lockhammer.RUN_OPS // 16))
    for one, other in zip(few, many, strict=True):
        assert one.simulated.median == pytest.approx(other.simulated.median, rel=0.05)
