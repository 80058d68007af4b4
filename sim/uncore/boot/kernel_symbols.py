"""Attributes waiting in a kernel to functions, by the symbols of its instructions.

Interface: `Symbols.read(paths)`: a System.map or /proc/kallsyms, a vmlinux that is an ELF, ELFs of
programs; `costs(uses, symbols)`, a row for each function.  Where a program marks what is measured
(uncore_begin, uncore_end), only what harts do in between counts.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uncore.errors import UserError
from uncore.support.input_files import read_bounded

MAX_SYMBOLS_BYTES = 1 << 30
KERNEL = 1 << 63  # its half of the addresses
PROGRAMS = "(programs)"
OUTSIDE = -2  # the kind of what is neither in an operation nor between two
# Symbols with a $ mark code or data that follows.
_LINE = re.compile(r"([0-9a-f]{16}) [tTwW] ([^\s$]+)\s*$", re.MULTILINE)
Found = tuple[int, int, str]  # address, size (0: up to the next one), name


@dataclass(frozen=True)
class Symbols:
    each: list[Found]

    @classmethod
    def read(cls, paths: Sequence[Path]) -> Symbols:
        return cls(sorted({symbol for path in paths for symbol in _read(path)}))

    def at(self, pc: int) -> str:
        position = bisect_right(self.each, pc, key=lambda symbol: symbol[0]) - 1
        if position >= 0:
            address, size, name = self.each[position]
            if pc < address + size or (not size and (address >= KERNEL) == (pc >= KERNEL)):
                return name
        return f"{pc:#x}" if pc >= KERNEL else PROGRAMS


def _read(path: Path) -> list[Found]:
    try:
        data = read_bounded(path, MAX_SYMBOLS_BYTES)
    except OSError as error:
        raise UserError(
            f"--symbols {path}: {error.strerror}; name a file that can be read"
        ) from None
    symbols = list(_of_elf(path, data) if data.startswith(b"\x7fELF") else _of_text(data))
    if not symbols:
        raise UserError(
            f"--symbols {path}: no symbols of code in it; write a file of what `cat /proc/kallsyms`"
            " says as root, a System.map, or an ELF that is not stripped"
        )
    return symbols


def _of_text(data: bytes) -> Iterator[Found]:
    """The kernel's own, without those of modules."""
    for at, name in _LINE.findall(data.decode(errors="replace")):
        if int(at, 16) >= KERNEL:
            yield int(at, 16), 0, name


def _of_elf(path: Path, data: bytes) -> Iterator[Found]:
    # Slow to load, and a guest's reader (program/elf.py) takes no kernels.
    from elftools.common.exceptions import ELFError  # noqa: PLC0415
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415

    try:
        table: Any = ELFFile(io.BytesIO(data)).get_section_by_name(".symtab")
        for symbol in table.iter_symbols() if table else ():
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_value"]:
                yield symbol["st_value"], symbol["st_size"], symbol.name
    except (ELFError, ValueError, TypeError, AttributeError, UnicodeError):
        raise UserError(
            f"--symbols {path}: a damaged or truncated ELF file; copy it again"
        ) from None


def costs(uses: Mapping[str, Any], symbols: Symbols) -> list[dict[str, Any]]:
    columns = (uses[name].tolist() for name in ("pc", "line", "kind", "waited_ps", "misses"))
    used = list(zip(*columns, strict=True))
    marked = any(kind > OUTSIDE for _, _, kind, _, _ in used)
    total: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    by_line: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for pc, line, kind, waited, misses in used:
        if kind > OUTSIDE or not marked:
            name = symbols.at(pc % (1 << 64))  # columns are signed
            total[name][0] += waited
            total[name][1] += misses
            by_line[name][line] += waited
    in_all = sum(waited for waited, _ in total.values())
    rows = []
    for name, (waited, misses) in sorted(total.items(), key=lambda item: (-item[1][0], item[0])):
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
