"""Compiles all litmus tests into one guest program. Each thread of a test is a block of assembly.

    program(tests) -> Program               compiles these tests, or finds them in the cache
    compiled_text(text, kind) -> Program    does the same with the C text of the caller

The runtime, which chooses starting points and counts outcomes, is workloads/include/litmus.h.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from uncore.program import Program, compile
from uncore.study.litmus.events import Litmus, LitmusAccess, Outcome
from uncore.support import paths

MAX_TEST_THREADS = 4
VALUE_BITS = 2


def program(tests: Sequence[Litmus]) -> Program:
    """Returns the guest program of these tests."""
    return compiled_text(source(tests), "litmus")


def compiled_text(text: str, kind: str) -> Program:
    """Compiles C text, or finds the program in the cache. `kind`: prefix of the file's name."""
    folder = paths.CACHE / "litmus"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.c"
    if not path.is_file():
        path.write_text(text)
    return compile(path)


def source(tests: Sequence[Litmus]) -> str:
    """Returns the C text of the guest program."""
    parts = ['#include "litmus.h"', 'UC_WORKLOAD("Litmus tests of the memory model");']
    for number, test in enumerate(tests):
        parts.append(f"// {test.name}")
        for thread, accesses in enumerate(test.threads):
            parts.append(_function(f"test{number}_{thread}", test, accesses))
    rows = ",\n".join(_row(number, test) for number, test in enumerate(tests))
    parts.append(f"const struct litmus_test litmus_tests[] = {{\n{rows}}};")
    parts.append(f"const unsigned litmus_count = {len(tests)};")
    return "\n".join(parts) + "\n"


def decoded(test: Litmus, code: int) -> Outcome:
    """Decodes an outcome: the guest packs all values into a number, with VALUE_BITS for each."""
    values = test.loads + len(test.locations)
    return tuple(code >> VALUE_BITS * i & (1 << VALUE_BITS) - 1 for i in range(values))


def _row(number: int, test: Litmus) -> str:
    loads = ", ".join(str(sum(not a.store for a in thread)) for thread in test.threads)
    names = ", ".join(f"test{number}_{thread}" for thread in range(len(test.threads)))
    return f"  {{{len(test.threads)}, {len(test.locations)}, {{{loads}}}, {{{names}}}}}"


def _function(name: str, test: Litmus, accesses: Sequence[LitmusAccess]) -> str:
    loads = [f"r{i}" for i in range(sum(not a.store for a in accesses))]
    lines = "\n".join(f'      "{line}\\n"' for line in _assembly(accesses))
    outputs = ", ".join(f'[{r}] "=&r"({r})' for r in loads)
    inputs = ", ".join(f'[{loc}] "r"(at[{i}])' for i, loc in enumerate(test.locations))
    declared = f"  uint32_t {', '.join(loads)};\n" if loads else ""
    stored = "".join(f"  out[{i}] = {r};\n" for i, r in enumerate(loads))
    unused = "" if loads else "  (void)out;\n"
    return (
        f"static void {name}(const litmus_location* at, uint32_t* out) {{\n{declared}"
        f"  __asm__ volatile(\n{lines}\n"
        f'      : {outputs} : {inputs} : "t0", "t1", "memory");\n{stored}{unused}}}'
    )


def _assembly(accesses: Sequence[LitmusAccess]) -> Iterable[str]:
    last_load = -1  # index of the last load
    for access in accesses:
        if access.link.startswith("fence"):
            yield access.link
        last_value = f"%[r{last_load}]"
        if access.link == "ctrl":
            yield f"bnez {last_value}, 2f"
            yield "2:"
        if access.store:
            yield from _store(access, last_value)
        else:
            last_load += 1
            yield from _load(access, f"%[r{last_load}]", last_value)


def _load(access: LitmusAccess, register: str, last_value: str) -> Iterable[str]:
    address = f"(%[{access.location}])"
    style, _, order = access.style.partition(".")
    if access.link == "dep":
        yield f"xor t0, {last_value}, {last_value}"
        yield f"add t0, t0, %[{access.location}]"
        address = "(t0)"
    match style:
        case "plain":
            yield f"lw {register}, {address}"
        case "amo":
            yield f"amoor.w{'.' + order if order else ''} {register}, x0, {address}"
        case _:
            yield f"lr.w {register}, {address}"


def _store(access: LitmusAccess, last_value: str) -> Iterable[str]:
    address = f"(%[{access.location}])"
    style, _, order = access.style.partition(".")
    if access.link == "dep":
        yield f"xor t0, {last_value}, {last_value}"
        yield f"addi t0, t0, {access.value}"
    else:
        yield f"li t0, {access.value}"
    match style:
        case "plain":
            yield f"sw t0, {address}"
        case "amo":
            yield f"amoswap.w{'.' + order if order else ''} x0, t0, {address}"
        case _:
            yield f"1: lr.w t1, {address}"
            yield f"sc.w t1, t0, {address}"
            yield "bnez t1, 1b"
