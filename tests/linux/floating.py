"""A Linux program that executes every floating-point instruction in all rounding modes.

    PROGRAMS         for each instruction and format, its variants
    program()        the binary; its argument is the index of the entry of PROGRAMS to execute

The program prints one line for each rounding mode: a hash of all results and their flags.
"""

from __future__ import annotations

import tempfile
from functools import cache
from itertools import groupby
from pathlib import Path

from tests.isa.floating_variants import Variant, variants
from tests.isa.ieee import DOUBLE, SINGLE
from tests.isa.operands import rows
from tests.linux.programs import BARE, HERE

from uncore.program import Program, compile_for_linux

ROWS = 40
PROGRAMS = [
    list(group)
    for f in (SINGLE, DOUBLE)
    for _, group in groupby(variants(f), lambda variant: variant.name)
]
SAVED = ("x8", "x20", "x21", "x22")  # registers that a called function preserves

MAIN = """
#include "raw.h"
#define ROWS {rows}
#define PROGRAMS {programs}
extern void (*const programs[])(u64*);
static u64 results[2 * ROWS * 10];

static u64 number(const char* s) {{
  u64 n = 0;
  while (*s) n = 10 * n + (u64)(*s++ - '0');
  return n;
}}
int run(int count, char** words) {{
  const u64 which = number(words[count - 1]);
  if (which >= PROGRAMS) return 1;
  for (u64 i = 0; i < sizeof results / 8; ++i) results[i] = 0;
  programs[which](results);
  for (u64 mode = 0; mode < 10; ++mode) {{
    u64 hash = 14695981039346656037u;  // FNV-1a
    const u64* const mode_results = results + 2 * ROWS * mode;
    for (u64 i = 0; i < 2 * ROWS; ++i) hash = (hash ^ mode_results[i]) * 1099511628211u;
    say_number((long)hash);
  }}
  return 0;
}}
__asm__(
{text});
"""


@cache
def program() -> Program:
    lines = [
        line
        for number, group in enumerate(PROGRAMS)
        for line in _function(number, group).splitlines()
    ]
    data = [*rows(1, SINGLE, ROWS // 2), *rows(2, DOUBLE, ROWS - ROWS // 2)]
    lines += [".data", ".balign 8", "rows:"]
    lines += [f".dword {', '.join(map(hex, row))}" for row in data]
    lines += [".globl programs", "programs:"]
    lines += [f".dword program_{number}" for number in range(len(PROGRAMS))]
    text = "\n".join(f'"{line.strip()}\\n"' for line in [".text", *lines, ".text"])
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "floating.c"
        source.write_text(MAIN.format(rows=ROWS, programs=len(PROGRAMS), text=text))
        return compile_for_linux(source, (), (*BARE, f"-I{HERE}"))


def _function(number: int, group: list[Variant]) -> str:
    saves, loads = (
        "; ".join(f"{word} {name}, {8 * slot}(sp)" for slot, name in enumerate(SAVED))
        for word in ("sd", "ld")
    )
    code = "".join(variant.program(ROWS) for variant in group)
    return f"""
        program_{number}:
        addi sp, sp, -32
        {saves}
        mv x31, a0
        {code}
        {loads}
        addi sp, sp, 32
        ret
    """
