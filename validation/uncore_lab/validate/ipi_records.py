"""Reads records of interprocessor interrupts from a trace of Linux that perf or ftrace printed.

    read(path, cpus) -> IpiTrace               errors are UserErrors with file and line

A line is the text of a tracepoint from `perf script` (perf-script(1): command, thread, [CPU], time
in seconds, event, fields) or from ftrace (Documentation/trace/ftrace.rst; trace-cmd-report(1)
prints the same without marks of context).  Lines about other events are ignored.

Fields are those of include/trace/events/ipi.h and arch/x86/include/asm/trace/irq_vectors.h:

    ipi_send_cpu: cpu=3 callsite=ttwu_queue_wakelist+0x9c callback=0x0
    ipi_send_cpumask: cpumask=0-2,7 callsite=... callback=generic_smp_call_function_single_interrupt
    ipi_raise: target_mask=00000000,00000080 (Function call interrupts)         on Arm, also older
    reschedule_entry, call_function_entry, call_function_single_entry: vector=253
    ipi_entry: (Function call interrupts)                                       on Arm

Kernels write a set of CPUs as a hexadecimal mask in groups of 32 bits; libtraceevent and the option
`bitmask-list` write it as a list.  The callback shows which vector is sent (kernel/smp.c): none for
a reschedule, `generic_smp_call_function_single_interrupt` for a call.  Linux 6.4 uses the same
events, with other callbacks, for calls that it only queues; these are no interrupts.  If Arm's
`ipi_raise` is traced as well, only its records are used, because it is nearer to the hardware.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from uncore.errors import UserError
from uncore_lab.validate.trace_text import numbered, unreadable

RESCHEDULE, CALL = "Rescheduling interrupts", "Function call interrupts"  # Arm's names
CALL_OF_ONE = "call_function_single"  # call of a single CPU, which has its own vector on x86
LOST = "lost"  # kind of a record that says that records before it are missing
CALL_HANDLER = "generic_smp_call_function_single_interrupt"
NO_CALLBACK = "0x0"
ENTRIES = {
    "reschedule_entry": RESCHEDULE,
    "call_function_entry": CALL,
    "call_function_single_entry": CALL_OF_ONE,
}
SEND_ONE, SEND_MANY, RAISE, ENTRY = "ipi_send_cpu", "ipi_send_cpumask", "ipi_raise", "ipi_entry"
FIELDS = {
    SEND_ONE: (r"cpu=(?P<cpus>\d{1,9}) .*callback=(?P<why>\S+)", "cpu=, callsite= and callback="),
    SEND_MANY: (r"cpumask=(?P<cpus>\S*) .*callback=(?P<why>\S+)", "CPUs, callsite= and callback="),
    RAISE: (r"target_mask=(?P<cpus>\S*) \((?P<why>.*)\)", "target_mask= and a reason"),
    ENTRY: (r"\((?P<why>.*)\)", "a reason in parentheses"),
    **dict.fromkeys(ENTRIES, (r"vector=\d+", "vector=")),
}
EXAMPLES = {
    SEND_ONE: f"cpu=3 callsite=ttwu_queue_wakelist+0x9c callback={CALL_HANDLER}+0x0",
    SEND_MANY: f"cpumask=0-2,7 callsite=on_each_cpu_cond_mask+0x20 callback={CALL_HANDLER}+0x0",
    RAISE: f"target_mask=00000000,00000080 ({CALL})",
    ENTRY: f"({CALL})",
    **dict.fromkeys(ENTRIES, "vector=253"),
}
EXAMPLE = "app 1234 [003] 5678.901234567: ipi:ipi_send_cpu: cpu=7 callsite=... callback=0x0"
_NAMED = re.compile(rf"\b(?:{'|'.join(FIELDS)}):(?:\s|$)")
_DROPPED = re.compile(r"CPU:\s?\d+ \[(?:LOST \d+ EVENTS|(?:\d+ )?EVENTS DROPPED)\]\s*")
_RECORD = re.compile(
    r".*?\[(?P<cpu>\d{1,9})\]\s+(?:[^\s:]+\s+)?(?P<s>\d{1,12})\.(?P<part>\d{1,9}):\s+(?:\d+\s+)?"
    rf"(?:\w+:)?(?P<event>{'|'.join(FIELDS)}):\s*(?P<fields>.*)"
)
_MASK = re.compile(r"[0-9a-f]{1,8}(?:,[0-9a-f]{8})*")
_LIST = re.compile(r"\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*")
SHARED_CLOCK_ADVICE = (
    "record with a clock that all CPUs share: perf record -k CLOCK_MONOTONIC, trace-cmd record -C"
    " mono, or echo mono > /sys/kernel/tracing/trace_clock"
)


class IpiRecord(NamedTuple):
    """The send of an interrupt, or the entry into its handler."""

    ns: int
    cpu: int
    kind: str
    event: str
    # CPUs to which the interrupt is sent; None if the record is the entry into a handler
    targets: tuple[int, ...] | None


@dataclass(frozen=True)
class IpiTrace:
    """The records of a trace, in the order of time."""

    records: list[IpiRecord]
    queued_calls: int  # records of calls that were queued without an interrupt
    in_microseconds: bool  # True: all times are whole microseconds


@dataclass
class _Reader:
    """The state of reading: the time and line of each CPU's last record."""

    cpus: int
    last: dict[int, tuple[int, str]]
    fraction_digits: int = 0  # most digits of a second's fraction in any record so far

    def record(self, place: str, line: str) -> IpiRecord:
        match = _RECORD.match(line)
        if not match:
            expected = "[CPU], a time in seconds with its fraction, the event and its fields"
            raise unreadable(place, line, expected, EXAMPLE)
        cpu, event = int(match["cpu"]), match["event"]
        self._check_cpu(place, cpu)
        self.fraction_digits = max(self.fraction_digits, len(match["part"]))
        ns = int(match["s"]) * 10**9 + int(match["part"].ljust(9, "0"))
        self._check_clock(place, cpu, ns)
        pattern, expected = FIELDS[event]
        fields = re.match(pattern, match["fields"])
        if not fields:
            raise unreadable(place, line, f"{event} with {expected}", f"{event}: {EXAMPLES[event]}")
        if event in ENTRIES:
            return IpiRecord(ns, cpu, ENTRIES[event], event, None)
        if event == ENTRY:
            return IpiRecord(ns, cpu, fields["why"], event, None)
        targets = tuple(self._targets(place, event, fields["cpus"]))
        return IpiRecord(ns, cpu, _kind(event, fields["why"]), event, targets)

    def _check_cpu(self, place: str, cpu: int) -> None:
        if cpu >= self.cpus:
            raise UserError(
                f"{place}: CPU {cpu}: the machine's file has CPUs 0 to {self.cpus - 1}; expected a"
                " trace of this machine, or `cpus` as its system numbers them"
            )

    def _check_clock(self, place: str, cpu: int, ns: int) -> None:
        previous_ns, previous_place = self.last.get(cpu, (ns, place))
        if ns < previous_ns:
            raise UserError(
                f"{place}: CPU {cpu} is at {ns / 1e9:.9f} s, and was at {previous_ns / 1e9:.9f} s"
                f" in {previous_place}: its clock runs backwards; {SHARED_CLOCK_ADVICE}"
            )
        self.last[cpu] = ns, place

    def _targets(self, place: str, event: str, text: str) -> Iterator[int]:
        if not text:  # an empty set of CPUs
            return
        ranges = _ranges(event, text, self.cpus)
        if ranges is None:
            raise unreadable(place, text, "CPUs as a list or as digits of a mask", EXAMPLES[event])
        for first, last in ranges:
            self._check_cpu(place, last)
            yield from range(first, last + 1)


def read(path: Path, cpus: int) -> IpiTrace:
    """Reads a trace. `cpus` is the number of CPUs that the machine's operating system numbers."""
    reader, records = _Reader(cpus, {}), list[IpiRecord]()
    for place, line in numbered(path):
        if _DROPPED.fullmatch(line):
            records.append(IpiRecord(records[-1].ns if records else 0, 0, LOST, LOST, None))
        elif _NAMED.search(line):
            records.append(reader.record(place, line))
    if not reader.last:
        raise UserError(
            f"{path}: no record of an interrupt; expected what perf script or ftrace print of"
            f" {SEND_ONE}, {SEND_MANY} or {RAISE} and of entries, such as '{EXAMPLE}'"
        )
    return IpiTrace(*_interrupts(records), in_microseconds=reader.fraction_digits <= 6)


def _interrupts(records: list[IpiRecord]) -> tuple[list[IpiRecord], int]:
    """Returns the records of interrupts in the order of time, with sends before entries of the same
    time; and the number of records of calls that were only queued.
    """
    events = {record.event for record in records}
    doubled = {SEND_ONE, SEND_MANY} if RAISE in events else set[str]()
    interrupts = [record for record in records if record.event not in doubled and record.kind]
    if ENTRY in events:  # Arm has one vector for calls
        interrupts = [r._replace(kind=CALL) if r.kind == CALL_OF_ONE else r for r in interrupts]
    queued = sum(record.event not in doubled and not record.kind for record in records)
    return sorted(interrupts, key=lambda record: (record.ns, record.targets is None)), queued


def _kind(event: str, why: str) -> str:
    """Returns the name of the vector that is sent; "" for a call that was only queued."""
    if event == RAISE:
        return why
    if why == NO_CALLBACK:
        return RESCHEDULE
    if why.partition("+")[0] != CALL_HANDLER:
        return ""
    return CALL_OF_ONE if event == SEND_ONE else CALL


def _ranges(event: str, text: str, cpus: int) -> list[tuple[int, int]] | None:
    """Returns the first and last CPU of each range; None if the text is neither a list nor a mask.

    A mask has one digit for every four CPUs of the system, so a shorter text is a list.
    """
    if event == SEND_ONE:
        return [(int(text), int(text))]
    if _MASK.fullmatch(text) and 4 * len(text.replace(",", "")) >= cpus:
        bits = f"{int(text.replace(',', ''), 16):b}"[::-1]
        return [(found.start(), found.end() - 1) for found in re.finditer("1+", bits)]
    if not _LIST.fullmatch(text):
        return None
    pairs = (part.partition("-") for part in text.split(","))
    return [(int(first), int(last or first)) for first, _, last in pairs]
