"""Macy 2018: the cost of leaving a core complex, a die or a socket, for a contended line."""

from __future__ import annotations

from statistics import median

from uncore_lab.claims.amounts import Curve
from uncore_lab.claims.claim import Run, claim
from uncore_lab.claims.ranges import figure

# These are all the shipped locks with mutual exclusion. `think` is fitted: in the median over the
# contended series that are judged here, one task takes 681 ns for a call on the EPYC, 834 ns on the
# Xeon. It matters: with 2 us of it neither machine loses anything from 4 to 8 tasks.
LOCKS = ("tas", "ttas", "ticket", "array", "clh", "mcs", "mtx_spin", "mtx_def")

ON_EPYC = {
    lock: Run(
        machine="epyc7601x2",
        workload=f"lock/{lock}",
        threads="4,8,16,32,64",
        set={"think": "600ns", "ops": 30},
    )
    for lock in LOCKS
}


@claim(
    "a contended line on 2x EPYC 7601 loses half its throughput from 4 to 8 tasks, leaving"
    " the core complex",
    source="will-it-scale results of Macy 2018, Appendix B: median over all contended series",
    figures=[],
    expected=figure(0.51),
    unit="x",
    neutral=1,
    fitted=["think"],
    runs=ON_EPYC,
    reason=(
        "queue locks, where only one waiter asks for the line, lose a third when they leave"
        " the complex; the others lose more than half. In the measured kernels of FreeBSD"
        " there are no queue locks"
    ),
)
def signature_epyc_complex(**locks: Curve) -> float:
    return median(lock.at(8).throughput / lock.at(4).throughput for lock in locks.values())


@claim(
    "a contended line on 2x EPYC 7601 loses a third from 8 to 16 tasks, leaving the die",
    source="will-it-scale results of Macy 2018, Appendix B: median over all contended series",
    figures=[],
    expected=figure(0.68),
    unit="x",
    neutral=1,
    fitted=["think"],
    runs=ON_EPYC,
)
def signature_epyc_dies(**locks: Curve) -> float:
    return median(lock.at(16).throughput / lock.at(8).throughput for lock in locks.values())


@claim(
    "a contended line on 2x EPYC 7601 loses more than a third from 32 to 64 tasks, the"
    " second socket",
    source="will-it-scale results of Macy 2018, Appendix B: median over all contended series",
    figures=[],
    expected=figure(0.63),
    unit="x",
    neutral=1,
    fitted=["think"],
    runs=ON_EPYC,
    reason=(
        "spin locks lose most when the second socket joins in, FreeBSD's own among them, which"
        " back off (0.28 and 0.48); queue locks a third. With `think` of 2 us it is 0.55"
    ),
)
def signature_epyc_socket(**locks: Curve) -> float:
    return median(lock.at(64).throughput / lock.at(32).throughput for lock in locks.values())


ON_XEON = {
    lock: Run(
        machine="x6130x2",
        workload=f"lock/{lock}",
        threads="4,8,16,20,32",
        set={"think": "600ns", "ops": 30},
    )
    for lock in LOCKS
}


@claim(
    "a contended line on 2x Xeon 6130 loses nothing from 4 to 8 tasks, where the EPYC loses half",
    source="will-it-scale results of Macy 2018, Appendix B: median over all contended series",
    figures=[],
    expected=figure(1),
    unit="x",
    fitted=["think"],
    runs=ON_XEON,
)
def signature_xeon_tasks(**locks: Curve) -> float:
    return median(lock.at(8).throughput / lock.at(4).throughput for lock in locks.values())


@claim(
    "a contended line on 2x Xeon 6130 loses nothing from 8 to 16 tasks, within the socket",
    source="will-it-scale results of Macy 2018, Appendix B: median over all contended series",
    figures=[],
    expected=figure(1),
    unit="x",
    fitted=["think"],
    runs=ON_XEON,
)
def signature_xeon_inside(**locks: Curve) -> float:
    return median(lock.at(16).throughput / lock.at(8).throughput for lock in locks.values())


@claim(
    "a contended line on 2x Xeon 6130 loses a quarter from 16 to 20 tasks, the second socket",
    source="will-it-scale results of Macy 2018, Appendix B: median over all contended series",
    figures=[],
    expected=figure(0.77),
    unit="x",
    neutral=1,
    fitted=["think"],
    runs=ON_XEON,
    reason=(
        "test-and-set alone gains where `think` is short, and FreeBSD's mutexes lose nothing: the"
        " median over the locks is 0.73 with 100 ns of it, 0.64 with 2 us"
    ),
)
def signature_xeon_socket(**locks: Curve) -> float:
    return median(lock.at(20).throughput / lock.at(16).throughput for lock in locks.values())


@claim(
    "where calls scale, the curve of 2x EPYC 7601 flattens at one task a core: the slope"
    " beyond is a third of that before",
    source=(
        "Macy 2018, Measuring Scalability; in 171 of 180 linear series of its results the"
        " slope falls below 0.75 (median 0.33)"
    ),
    figures=[147],
    expected=figure(0.33),
    unit="of the slope",
    neutral=1,
    runs={"getuid": Run(machine="epyc7601x2", workload="kernel/getuid", threads="32,64,128")},
    reason=(
        "100 calls of a task end before the last task has started: in lockstep it is 0.50,"
        " which follows what a sibling leaves of a core (smt_share), an estimate"
    ),
)
def flattens_epyc(getuid: Curve) -> float:
    return (
        (getuid.at(128).throughput - getuid.at(64).throughput)
        / 2
        / (getuid.at(64).throughput - getuid.at(32).throughput)
    )


@claim(
    "where calls scale, the curve of 2x Xeon 6130 flattens at one task a core: the slope"
    " beyond is a third of that before",
    source=(
        "Macy 2018, Measuring Scalability; in 171 of 180 linear series of its results the"
        " slope falls below 0.75 (median 0.33)"
    ),
    figures=[147],
    expected=figure(0.33),
    unit="of the slope",
    neutral=1,
    runs={"getuid": Run(machine="x6130x2", workload="kernel/getuid", threads="16,32,64")},
    reason="as flattens-epyc; 0.53 in lockstep",
)
def flattens_xeon(getuid: Curve) -> float:
    return (
        (getuid.at(64).throughput - getuid.at(32).throughput)
        / 2
        / (getuid.at(32).throughput - getuid.at(16).throughput)
    )
