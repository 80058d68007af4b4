"""Runs litmus tests of other projects on weakly ordered cores, as one program.

run(cases, setting, rounds, seed), everywhere(cases, rounds, seed): add the states seen to each case

The program is that of `uncore litmus` (workloads/include/litmus.h) with the threads of these tests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tests.foreign.litmus_files import MOST_LOCATIONS, MOST_THREADS, State, Test

from uncore.engine import native
from uncore.errors import GuestError
from uncore.execution.request import make_job
from uncore.study.litmus.guest import compiled_text
from uncore.study.litmus.run import LITMUS_SETTINGS, LitmusSetting
from uncore.topology import load

BITS, LOADS, OUTCOMES = 4, 8, 160
# codes of values: address of the first location, -1, and any value without a code
NAMED, MINUS, OTHER = 8, 14, 15
# Threads start within this many ns, and stores and fetched lines are delayed by as many at most.
WINDOW = 1500
SCALES = (1, 4, 16)
SAFE = [f"t{i}" for i in range(7)] + [f"a{i}" for i in range(8)] + [f"s{i}" for i in range(2, 12)]
WORD = re.compile(r"\bx\d+\b")

HEAD = f"""#include <stdint.h>
#define LITMUS_WIDE
enum {{ LITMUS_LOCATIONS = {MOST_LOCATIONS}, LITMUS_LOADS = {LOADS} }};
enum {{ LITMUS_OUTCOMES = {OUTCOMES}, LITMUS_BITS = {BITS} }};
typedef uint64_t litmus_word;
#include "litmus.h"
UC_WORKLOAD("Litmus tests of others");
static unsigned litmus_code(const litmus_location* at, litmus_word value) {{
  if (value < {NAMED}) return (unsigned)value;
  for (unsigned i = 0; i < LITMUS_LOCATIONS; i++)
    if (value == (litmus_word)at[i]) return {NAMED} + i;
  return (int32_t)value == -1 ? {MINUS} : {OTHER};
}}
"""


@dataclass
class Case:
    """A test, the keys of its states, the allowed final states, and how often each was seen."""

    test: Test
    keys: tuple[str, ...]
    allowed: frozenset[State]
    seen: Counter[State]

    def loads(self, thread: int) -> list[str]:
        """Returns the registers of a thread that are part of a state."""
        return [key.partition(":")[2] for key in self.watched if key.startswith(f"{thread}:")]

    @property
    def watched(self) -> tuple[str, ...]:
        """The keys of a state, and further keys that the test's filter names."""
        asked = self.test.filter.keys if self.test.filter else set[str]()
        return (*self.keys, *sorted(asked - {*self.keys}))

    def adds(self, state: State, times: int) -> None:
        """Counts a state, given by the values of `watched`, unless the test's filter
        leaves it out.
        """
        found = dict(zip(self.watched, state, strict=True))
        if self.test.filter and not self.test.filter.holds(found):
            return
        self.seen[state[: len(self.keys)]] += times

    def shows(self, states: Iterable[State]) -> bool:
        """True if one of these states satisfies the condition of the test."""
        exists = self.test.exists
        return exists is not None and any(
            exists.holds(dict(zip(self.keys, state, strict=True))) for state in states
        )

    @property
    def in_vain(self) -> bool:
        """True if a state that satisfies the test's condition is allowed but was not seen."""
        return self.shows(self.allowed) and not self.shows(self.seen)

    @property
    def fits(self) -> bool:
        own = all(len(self.loads(n)) <= LOADS for n in range(MOST_THREADS))
        values = sum(":" in key for key in self.watched) + len(self.test.locations)
        return own and values * BITS < 64


def run(
    cases: Sequence[Case], setting: LitmusSetting, rounds: int, seed: int, scale: int = 1
) -> None:
    """Runs the cases on one machine and counts the final states. `scale` multiplies delays."""
    chance = (f"chance.store={500 * scale}ns", f"chance.load={scale}us")
    machine = load(setting.machine, (*setting.overrides, "core.order=weak", *chance))
    job = make_job(
        replace(machine, protocol=setting.protocol),
        compiled_text(source(cases), "foreign"),
        MOST_THREADS,
        parameters={"rounds": rounds, "seed": seed, "window": f"{WINDOW * scale}ns"},
        seeds=(seed,),
        **setting.policies,
    )
    point = native.run(job, frozenset())
    if point["failures"]:
        raise GuestError(point["failures"][0])
    for case, row in zip(cases, point["tables"]["seen"], strict=True):
        for code, times in zip(row[::2], row[1::2], strict=True):
            if code:
                case.adds(_state(case, code - 1), times)


def everywhere(cases: Sequence[Case], rounds: int, seed: int) -> None:
    for number, setting in enumerate(LITMUS_SETTINGS):
        run(cases, setting, rounds, seed + number, SCALES[number % len(SCALES)])


def _state(case: Case, code: int) -> State:
    names = [f"{n}:{r}" for n in range(len(case.test.threads)) for r in case.loads(n)]
    names += case.test.locations
    codes = {name: code >> BITS * i & (1 << BITS) - 1 for i, name in enumerate(names)}

    def spelled(value: int) -> str:
        if NAMED <= value < NAMED + len(case.test.locations):
            return case.test.locations[value - NAMED]
        return {MINUS: "-1", OTHER: "?"}.get(value, str(value))

    return tuple(spelled(codes[key]) for key in case.watched)


def source(cases: Sequence[Case]) -> str:
    """Returns the text of the C file that contains the cases."""
    threads = [
        _thread(f"test{number}_{n}", case, n)
        for number, case in enumerate(cases)
        for n in range(len(case.test.threads))
    ]
    rows = ",\n".join(_row(number, case) for number, case in enumerate(cases))
    first = [
        f"  if (test == {number} && location == {n}) return {int(value, 0)};"
        for number, case in enumerate(cases)
        for n, value in enumerate(case.test.memory.values())
        if value != "0"
    ]
    return "\n".join(
        [
            HEAD,
            "static litmus_word litmus_initial(unsigned test, unsigned location) {",
            *first,
            "  return 0 * (test + location);\n}",
            *threads,
            f"const struct litmus_test litmus_tests[] = {{\n{rows}}};",
            f"const unsigned litmus_count = {len(cases)};\n",
        ]
    )


def _row(number: int, case: Case) -> str:
    count = len(case.test.threads)
    loads = ", ".join(str(len(case.loads(n))) for n in range(count))
    names = ", ".join(f"test{number}_{n}" for n in range(count))
    return f"  {{{count}, {len(case.test.locations)}, {{{loads}}}, {{{names}}}}}"


def _thread(name: str, case: Case, thread: int) -> str:
    """Returns a thread's instructions, with its registers renamed to those that a compiler may
    use.
    """
    test = case.test
    code = test.threads[thread]
    begun = {reg: value for (n, reg), value in test.registers.items() if n == thread}
    used = {*begun, *case.loads(thread), *(w for line in code for w in WORD.findall(line))}
    lent = dict(zip(sorted(used - {"x0"}), SAFE, strict=False))
    lines = [f"li {lent[reg]}, 0" for reg in sorted(lent) if reg not in begun]
    for register, value in begun.items():
        if value in test.memory:
            lines.append(f"ld {lent[register]}, {8 * test.locations.index(value)}(%[at])")
        else:
            lines.append(f"li {lent[register]}, {value}")
    labels = {line[:-1] for line in code if line.endswith(":")}
    lines += [_renamed(line, lent, labels) for line in code]
    lines += [f"sd {lent[reg]}, {8 * i}(%[out])" for i, reg in enumerate(case.loads(thread))]
    text = "\n".join(f'      "{line}\\n"' for line in lines)
    clobbers = ", ".join(f'"{reg}"' for reg in lent.values())
    return (
        f"static void {name}(const litmus_location* at, litmus_word* out) {{\n"
        f'  __asm__ volatile(\n{text}\n      : : [at] "r"(at), [out] "r"(out)'
        f' : {clobbers}, "memory");\n}}'
    )


def _renamed(line: str, lent: dict[str, str], labels: set[str]) -> str:
    line = WORD.sub(lambda word: lent.get(word[0], word[0]), line)
    for label in labels:
        line = re.sub(rf"\b{label}\b", f"{label}_%=", line)
    return re.sub(r"^((?:amo|lr|sc)\S+ .*)\b0\(", r"\1(", line)
