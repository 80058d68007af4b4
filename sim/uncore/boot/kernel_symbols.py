"""Attributes the time that a kernel's instructions wait for memory to its functions.

`Symbols.read(paths)` reads a System.map or /proc/kallsyms, a vmlinux in ELF format, or ELF files of
programs; `costs(uses, symbols)` returns a row for each function.  If a program marks its measured
part (uncore_begin, uncore_end), only waiting within that part counts.
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
KERNEL_BASE = 1 << 63  # lowest address of the kernel's half of the address space
PROGRAMS_NAME = "(programs)"
# kind of an access outside the measured part, which is neither in an operation nor between two
OUTSIDE_MEASURED = -2
# Names that contain a $ are not functions: they mark where code or data starts.
_LINE_PATTERN = re.compile(r"([0-9a-f]{16}) [tTwW] ([^\s$]+)\s*$", re.MULTILINE)
Symbol = tuple[int, int, str]  # address, size (0: up to the next symbol), name


@dataclass(frozen=True)
class Symbols:
    symbols: list[Symbol]

    @classmethod
    def read(cls, paths: Sequence[Path]) -> Symbols:
        return cls(sorted({symbol for path in paths for symbol in _read(path)}))

    def at(self, pc: int) -> str:
        position = bisect_right(self.symbols, pc, key=lambda symbol: symbol[0]) - 1
        if position >= 0:
            address, size, name = self.symbols[position]
            if pc < address + size or (
                not size and (address >= KERNEL_BASE) == (pc >= KERNEL_BASE)
            ):
                return name
        return f"{pc:#x}" if pc >= KERNEL_BASE else PROGRAMS_NAME


def _read(path: Path) -> list[Symbol]:
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


def _of_text(data: bytes) -> Iterator[Symbol]:
    """Yields the kernel's own symbols, without those of modules."""
    for address, name in _LINE_PATTERN.findall(data.decode(errors="replace")):
        if int(address, 16) >= KERNEL_BASE:
            yield int(address, 16), 0, name


def _of_elf(path: Path, data: bytes) -> Iterator[Symbol]:
    # Imported here because pyelftools is slow to load. program/elf.py cannot read kernels.
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
    uses_by_row = list(zip(*columns, strict=True))
    marked = any(kind > OUTSIDE_MEASURED for _, _, kind, _, _ in uses_by_row)
    total: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    by_line: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for pc, line, kind, waited, misses in uses_by_row:
        if kind > OUTSIDE_MEASURED or not marked:
            name = symbols.at(pc % (1 << 64))  # columns hold signed numbers
            total[name][0] += waited
            total[name][1] += misses
            by_line[name][line] += waited
    total_wait = sum(waited for waited, _ in total.values())
    rows = []
    for name, (waited, misses) in sorted(total.items(), key=lambda item: (-item[1][0], item[0])):
        worst_line = max(by_line[name], key=lambda line: (by_line[name][line], -line))
        rows.append(
            {
                "symbol": name,
                "waited_ps": waited,
                "share": waited * 10**6 // max(total_wait, 1),
                "misses": misses,
                "lines": len(by_line[name]),
                "worst": f"{worst_line:#x}",
                "of_it": by_line[name][worst_line] * 10**6 // max(waited, 1),
            }
        )
    return rows
