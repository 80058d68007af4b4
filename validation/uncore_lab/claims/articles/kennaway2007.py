"""Kennaway 2007: MySQL on four Opterons, FreeBSD against Linux."""

from __future__ import annotations

from functools import partial

from uncore_lab.claims.amounts import Curve
from uncore_lab.claims.claim import Run, claim
from uncore_lab.claims.ranges import about, because, figure

MYSQL_RUN = partial(Run, machine="opteron8218x4", workload="kernel/mysql", threads="8")
# The two systems differ in what mysql.c says of them: FreeBSD has a mutex on the descriptor table
# and an arena of the allocator for each thread, Linux looks descriptors up without a lock and has
# one arena. `switch_cost` is Dillon's of 2005, measured on a processor of the same family.
SYSTEM: dict[str, str | int] = {
    "preempt": "user",
    "inner": "1us",
    "allocations": 8,
    "allocating": "300ns",
    "switch_cost": "1us",
    "ops": 150,
}
FREEBSD: dict[str, str | int] = {**SYSTEM, "mutex": "adaptive", "heap": "own"}
LINUX: dict[str, str | int] = {**SYSTEM, "descriptors": "rcu", "heap": "one"}
MYSQL = {
    "freebsd8": MYSQL_RUN(set={**FREEBSD, "clients": 8}),
    "freebsd20": MYSQL_RUN(set={**FREEBSD, "clients": 20}),
    "linux1": MYSQL_RUN(set={**LINUX, "clients": 1}),
    "linux8": MYSQL_RUN(set={**LINUX, "clients": 8}),
    "linux20": MYSQL_RUN(set={**LINUX, "clients": 20}),
}
FITTED = ["work", "quantum", "inner", "allocations", "allocating"]
# The server has locks of its own: Kennaway's notes on MySQL (people.freebsd.org/~kris/scaling,
# 2008) say that these cause the loss above 8 clients. No quantum ends while kernel code runs.
# `inner` is a round number; the answer is 0.87 with half a microsecond and 0.76 with five.
SERVER = {
    f"server{clients}": MYSQL_RUN(
        set={"mutex": "adaptive", "preempt": "user", "inner": "1us", "clients": clients}
    )
    for clients in (8, 20)
}
MARGIN = "2 % is the margin of error between runs, the article says"


@claim(
    "MySQL on 8 CPUs under FreeBSD: 20 clients reach 8 % less than 8",
    source="Kennaway 2007",
    figures=[138],
    expected=because(0.90, 0.94, f"8 % less; {MARGIN}"),
    unit="x",
    neutral=1,
    fitted=["work", "hold", "quantum", "inner"],
    runs=SERVER,
    reason=(
        "the sleepable mutex of the descriptor table, which the article names, loses nothing here."
        " A thread that loses its CPU with a lock of the server's own makes all others sleep,"
        " whatever the kernel's locks do; how often follows from the quantum and from how long"
        " that lock is held, which no article states: with a quantum of 1 ms it is 0.98"
    ),
)
def mysql_freebsd(server20: Curve, server8: Curve) -> float:
    return server20.point.throughput / server8.point.throughput


@claim(
    "at 8 clients, one a CPU, FreeBSD and Linux are 2 % apart",
    source="Kennaway 2007",
    figures=[137],
    expected=because(0.96, 1, f"2 % less; {MARGIN}"),
    unit="x",
    fitted=FITTED,
    runs=MYSQL,
    reason=(
        "the work of a query, how often it allocates, how long the locks are held and how long"
        " a thread runs, no article states; they were chosen when its figures were known. With 4"
        " allocations of 200 ns, and no lock of the server's own on Linux, it is 0.98, but Linux"
        " then loses only a third at 20 clients"
    ),
)
def mysql_peak(freebsd8: Curve, linux8: Curve) -> float:
    return freebsd8.point.throughput / linux8.point.throughput


@claim(
    "at 20 clients FreeBSD outperforms Linux, whose allocator has one lock, four times",
    source="Kennaway 2007",
    figures=[140],
    expected=figure(4),
    unit="x",
    neutral=1,
    fitted=FITTED,
    runs=MYSQL,
    reason=(
        "sleepers on the lock of glibc's malloc form a convoy as soon as there are more threads"
        " than CPUs; how deep it is follows from the number of allocations, and with twice as many"
        " it forms at 8 clients already. What futex(2) takes in the kernel is not executed"
    ),
)
def mysql_ratio(freebsd20: Curve, linux20: Curve) -> float:
    return freebsd20.point.throughput / linux20.point.throughput


@claim(
    "above 14 clients Linux falls to what one client reaches",
    source="Kennaway 2007",
    figures=[139],
    expected=about(1),
    unit="x",
    fitted=FITTED,
    runs=MYSQL,
    reason=(
        "as mysql-ratio: a handoff of the convoy takes 4.5 us here, and a query has 8 of them in"
        " 80 us of work; it falls to one client's rate where a handoff takes 10, which the calls"
        " of futex(2) and the scheduler of 2007 may have taken"
    ),
)
def mysql_collapse(linux20: Curve, linux1: Curve) -> float:
    return linux20.point.throughput / linux1.point.throughput
