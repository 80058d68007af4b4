"""From a pc to the functions that it is in: those inlined there, innermost first, with their lines.

frames = Frames(program_bytes, lowest_address, go)   where there is no debug information, what Go's
                                                     own table says; else nothing
frames.at(pc) -> (Frame("push", "queue.c", 26), Frame("main", "queue.c", 80))
own(path)                            whether a file is the user's, not of a system or toolchain
demangled("_ZN4Bank7depositEil")     "Bank::deposit"
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from uncore.program.go_table import GoTable

# Folders of compilers, their libraries and the packages that they fetch. Go's own library, built
# with -trimpath, has files without a folder before the package's name.
_TOOLCHAIN = re.compile(
    r"(^|/)(usr|rustc|rust/deps|\.rustup|\.cargo/registry|vendor|pkg/mod|ziglang|zig/lib|sysdeps"
    r"|nptl|libgcc|glibc-[\d.]+|gcc-[\d.]+|musl-[\d.]+)/"
    r"|^(runtime|sync|internal|syscall|os|time|reflect|fmt|strconv|container|math|bytes)/"
    r"|^<|^$"
)

# build.py compiles in the compiler's folder, and takes away the user's: of a file of the user's
# that folder goes, of the compiler's own what leads to it.
_COMPILED_IN = re.compile(r"^.*/ziglang/(?!lib/)|^.*/(?=ziglang/lib/)")


class Frame(NamedTuple):
    """A function at a line."""

    function: str
    path: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}" if self.path else ""


class Frames:
    """The frames of a program's instructions."""

    def __init__(self, data: bytes, lowest: int, go: GoTable | None = None) -> None:
        self._lowest, self._go = lowest, go
        self._held = data, *_table(data)  # the library borrows the bytes
        self.at = cache(self._at)

    def _at(self, pc: int) -> tuple[Frame, ...]:
        *_, table = self._held
        found = table.lookup(pc - self._lowest) if table and pc >= self._lowest else ()
        frames = tuple(
            Frame(demangled(f.symbol), _COMPILED_IN.sub("", f.full_path), f.line)
            for f in found
            if f.full_path
        )
        return frames or (self._go.at(pc) if self._go else ())


def _table(data: bytes) -> tuple[Any, Any]:
    """What the table needs, and the table; None: there is no debug information that can be read."""
    from symbolic.debuginfo import Archive  # noqa: PLC0415 (slow to load)

    try:
        archive = Archive.from_bytes(data)
        file = next(iter(archive.iter_objects()))
        return (archive, file), file.make_symcache()
    except Exception:  # damaged debug information must not stop a run
        return None, None


@cache
def own(path: str) -> bool:
    """Whether a source file is the user's own."""
    return not _TOOLCHAIN.search(path)


@cache
def demangled(name: str) -> str:
    """A function or object in the words of its language, without arguments."""
    if not name.startswith(("_Z", "_R")):
        return name
    from pydemumble import demangle  # noqa: PLC0415 (slow to load)

    return _without_arguments(demangle(name).removesuffix(" const")) or name


def _without_arguments(name: str) -> str:
    """The name up to the parenthesis that its last one closes."""
    depth = 0
    for at in range(len(name) - 1, -1, -1) if name.endswith(")") else ():
        depth += {")": 1, "(": -1}.get(name[at], 0)
        if depth == 0:
            return name[:at]
    return name
