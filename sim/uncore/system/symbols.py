"""Where a kernel waits: what is attributed to its instructions, by the symbols that they are in.

Interface: `Symbols.read(path)`, a System.map or /proc/kallsyms; `costs(lines, symbols)`, a row for
each function. Where programs mark operations (uncore_begin, uncore_end), only these count.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uncore.errors import UserError

KERNEL = 1 << 63  # its half of the addresses
PROGRAMS = "(programs)"
# Those with a $ say what follows: code or data.
_LINE = re.compile(r"([0-9a-f]{16}) [tTwW] ([^\s$]+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Symbols:
    addresses: list[int]
    names: list[str]

    @classmethod
    def read(cls, path: Path) -> Symbols:
        try:
            text = path.read_text(errors="replace")
        except OSError as error:
            raise UserError(
                f"--symbols {path}: {error.strerror}; name a file that can be read"
            ) from None
        found = sorted((int(at, 16), name) for at, name in _LINE.findall(text))
        known = [(at, name) for at, name in found if at >= KERNEL]
        if not known:
            raise UserError(
                f"--symbols {path}: no symbols of a kernel in it; write what `cat /proc/kallsyms`"
                " says in it, or its System.map"
            )
        return cls([at for at, _ in known], [name for _, name in known])

    def at(self, pc: int) -> str:
        if pc < KERNEL:
            return PROGRAMS
        place = bisect_right(self.addresses, pc) - 1
        return self.names[place] if place >= 0 else f"{pc:#x}"


def costs(lines: Mapping[str, Any], symbols: Symbols) -> list[dict[str, Any]]:
    uses = lines["uses"]
    columns = (uses[name].tolist() for name in ("pc", "line", "kind", "waited_ps", "misses"))
    used = list(zip(*columns, strict=True))
    least = 0 if any(kind >= 0 for _, _, kind, _, _ in used) else -1
    total: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    by_line: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for pc, line, kind, waited, misses in used:
        if kind >= least:
            name = symbols.at(pc % (1 << 64))  # columns are signed
            total[name][0] += waited
            total[name][1] += misses
            by_line[name][line] += waited
    in_all = sum(waited for waited, _ in total.values())
    rows = []
    for name, (waited, misses) in sorted(total.items(), key=lambda one: (-one[1][0], one[0])):
        worst = max(by_line[name], key=lambda line: (by_line[name][line], -line))
        rows.append(
            {
                "symbol": name,
                "waited_ps": waited,
                "share": waited * 10**6 // max(in_all, 1),
                "misses": misses,
                "lines": len(by_line[name]),
                "worst": f"{worst:#x}",
                "of_it": by_line[name][worst] * 10**6 // max(waited, 1),
            }
        )
    return rows
