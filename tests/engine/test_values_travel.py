"""Do values travel only with lines, so that caches can hold stale copies (rule A2)?

Each test breaks one cell of the protocol's tables and does not check the protocol. Then the
workload's self-check must fail, or the workload's limit `patience` must end a run in which a hart
waits for an invalidation that never comes. With the shipped tables the same runs pass.
"""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.runs import broken, point

from uncore.errors import GuestError
from uncore.protocol import tables
from uncore.topology import Machine, load

# Caches of a few lines, so that the workload's lines are evicted between its operations.
SMALL_CACHES = [
    ("core.l1=512B 2-way 4cy", "core.l2=1KiB 2-way 14cy"),
    ("core.l1=1KiB 2-way 4cy", "core.l2=2KiB 4-way 14cy", "ccx.data=inclusive 32MiB 16-way 10cy"),
    ("core.l1=2KiB 2-way 4cy", "core.l2=4KiB 2-way 14cy", "ccx.data=inclusive 32MiB 16-way 10cy"),
]
THREADS = (2, 3, 4)
WORKLOADS = ("lock/ticket", "refcount/atomic")


def with_protocol(machine: Machine, protocol: str) -> Machine:
    return dataclasses.replace(machine, protocol=protocol)


def failures(machine: Machine, workload: str, threads: int, **parameters: str) -> list[str]:
    return list(point(machine, workload, threads, ops=20, think="1us", **parameters)["failures"])


def detects(machine: Machine, workload: str, threads: int) -> bool:
    """Returns True if the workload's check fails, or all harts wait for ever for stale words."""
    try:
        return bool(failures(machine, workload, threads, patience="1ms"))
    except GuestError as error:
        return "every hart waits" in str(error)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("protocol", tables.PROTOCOLS)
def test_a_workload_passes_with_the_shipped_tables(workload: str, protocol: str) -> None:
    for overrides in [(), *SMALL_CACHES]:
        machine = with_protocol(load("ccx", overrides), protocol)
        assert not any(failures(machine, workload, threads) for threads in THREADS)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_workload_detects_a_lost_writeback(workload: str, tmp_path: Path) -> None:
    """A modified line is evicted without a Put, so the last write is lost."""
    tables = broken(tmp_path, "client.table", "M", "Evict", "drop>I")
    messages = []
    for overrides in SMALL_CACHES:
        machine = with_protocol(load("ccx", overrides), f"{tables}:mesi")
        for threads in THREADS:
            with suppress(GuestError):  # the stack may be lost as well, so that the guest traps
                messages += failures(machine, workload, threads)
    assert messages


def test_refcount_detects_an_owner_that_keeps_its_copy(tmp_path: Path) -> None:
    """An invalidation has no effect on the owner, so two harts own the count."""
    tables = broken(tmp_path, "client.table", "M", "ProbeM", "give+dirty>M")
    machine = with_protocol(load("ccx"), f"{tables}:mesi")
    for threads in (2, 3, 8):
        assert failures(machine, "refcount/atomic", threads)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("overrides", [(), *SMALL_CACHES])
def test_workload_detects_sharers_that_are_not_invalidated(
    overrides: tuple[str, ...], workload: str, tmp_path: Path
) -> None:
    tables = broken(tmp_path, "resolver.table", "S", "Upg", "-")
    machine = with_protocol(load("ccx", overrides), f"{tables}:mesi")
    for threads in (2, 3, 4, 8):
        assert detects(machine, workload, threads)


def test_ticket_lock_detects_stale_copies_in_caches_of_eight_lines(tmp_path: Path) -> None:
    """A waiter reads its stale copy for ever.

    refcount/atomic would not detect this: its count is evicted between any two operations, so no
    copy is stale when it is read.
    """
    tables = broken(tmp_path, "resolver.table", "S", "Upg", "-")
    small = load("ccx", ["core.l1=256B 2-way 4cy", "core.l2=512B 2-way 14cy"])
    for threads in (2, 3, 4, 8):
        assert detects(with_protocol(small, f"{tables}:mesi"), "lock/ticket", threads)


def test_ticket_lock_waits_for_ever_if_sharers_are_not_invalidated(tmp_path: Path) -> None:
    """Sharers keep their copies although an owner writes the line, so a waiter reads the old value
    for ever.
    """
    tables = broken(tmp_path, "resolver.table", "B [moesi,mosi]", "Upg", "probeM+via>M")
    machine = with_protocol(load("ccx"), f"{tables}:moesi")
    with pytest.raises(GuestError, match=r"every hart waits(.|\n)*ticket\.[ch]:\d+"):
        failures(machine, "lock/ticket", 4)
