"""Kennaway 2007: MySQL on four Opterons, FreeBSD against Linux."""

from __future__ import annotations

from functools import partial

from uncore_lab.claims.amounts import Curve
from uncore_lab.claims.claim import Run, claim
from uncore_lab.claims.ranges import about, because, figure

MYSQL_RUN = partial(Run, machine="opteron8218x4", workload="kernel/mysql", threads="8")
MYSQL = {
    "adaptive8": MYSQL_RUN(set={"mutex": "adaptive", "clients": 8}),
    "adaptive20": MYSQL_RUN(set={"mutex": "adaptive", "clients": 20}),
    "sleep1": MYSQL_RUN(set={"mutex": "sleep", "clients": 1}),
    "sleep8": MYSQL_RUN(set={"mutex": "sleep", "clients": 8}),
    "sleep20": MYSQL_RUN(set={"mutex": "sleep", "clients": 20}),
}
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
    "MySQL on 8 CPUs with FreeBSD's sleepable mutex: 20 clients reach 8 % less than 8",
    source="Kennaway 2007",
    figures=[138],
    expected=because(0.90, 0.94, f"8 % less; {MARGIN}"),
    unit="x",
    neutral=1,
    fitted=["work", "hold", "quantum", "inner"],
    runs=SERVER,
    reason=(
        "a thread that loses its CPU with a lock of the server's own makes all others sleep,"
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
    fitted=["work", "hold", "quantum"],
    runs=MYSQL,
    reason=(
        "the work of a query, how long the lock is held and how long a thread runs, no"
        " article states; they were chosen when its figures were known"
    ),
)
def mysql_peak(adaptive8: Curve, sleep8: Curve) -> float:
    return adaptive8.point.throughput / sleep8.point.throughput


@claim(
    "at 20 clients FreeBSD outperforms Linux, whose waiters sleep, four times",
    source="Kennaway 2007",
    figures=[140],
    expected=figure(4),
    unit="x",
    neutral=1,
    fitted=["work", "hold", "quantum"],
    runs=MYSQL,
    reason=(
        "it hangs on threads that lose their CPU with the kernel's lock; where no quantum cuts the"
        " kernel short (preempt=user), or the server has a lock of its own, the two are equal."
        " What made Linux fall in 2007 was found to be its C library's malloc, which the skeleton"
        " does not have"
    ),
)
def mysql_ratio(adaptive20: Curve, sleep20: Curve) -> float:
    return adaptive20.point.throughput / sleep20.point.throughput


@claim(
    "above 14 clients Linux falls to what one client reaches",
    source="Kennaway 2007",
    figures=[139],
    expected=about(1),
    unit="x",
    fitted=["work", "hold", "quantum"],
    runs=MYSQL,
    reason=(
        "as mysql-ratio; and a sleeper must get a CPU back from a thread that is just running,"
        " which the skeleton's scheduler does sooner than that of 2007"
    ),
)
def mysql_collapse(sleep20: Curve, sleep1: Curve) -> float:
    return sleep20.point.throughput / sleep1.point.throughput
