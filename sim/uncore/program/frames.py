"""From a pc to the functions that it is in: those inlined there, innermost first, with their lines.

frames = Frames(program, go)         where there is no debug information, what Go's own table
                                     says; else nothing
frames.at(pc) -> (Frame("push", "queue.c", 26), Frame("main", "queue.c", 80))
frames.keep()                        for the next run of the program
frames.users(frame)                  whether it is in a source file of the user's
own(path)                            whether a file is the user's, not of a system or toolchain
demangled("_ZN4Bank7depositEil")     "Bank::deposit"
"""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from uncore.errors import UserError
from uncore.support import paths
from uncore.support.bounded_folder import trim
from uncore.support.output_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uncore.program.elf import Segment

SYMBOLS_FOLDER = paths.CACHE / "symbols"
MAX_SYMBOLS_BYTES = 1 << 28  # a program of 20 MB needs 8 MB
WITHIN_CALL = 2  # bytes before a return address that are of the call for sure
_FRAMES = "frames1"  # another number where the same table is told in other words

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

_HEADER = re.compile(r"\.(h|hh|hpp|hxx|h\+\+|inc|inl|ipp|tcc|tpp)$")


class Frame(NamedTuple):
    """A function at a line."""

    function: str
    path: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}" if self.path else ""


class Binary(Protocol):
    """The part of a Program that frames follow from."""

    @property
    def data(self) -> bytes: ...

    @property
    def sha256(self) -> str: ...

    @property
    def segments(self) -> tuple[Segment, ...]: ...

    @property
    def compiled(self) -> Iterable[str]:
        """Source files, as debug information names them."""


class CallTable(Protocol):
    """A program's own table, such as Go's."""

    def at(self, pc: int) -> tuple[Frame, ...]: ...


class Frames:
    """The frames of a program's instructions."""

    def __init__(self, program: Binary, go: CallTable | None) -> None:
        self._program, self._go = program, go
        self._lowest = min(segment.address for segment in program.segments)
        self._kept = _kept(program)
        self._new = False

    def at(self, pc: int) -> tuple[Frame, ...]:
        known = self._kept.get(pc)
        if known is None:
            known = self._kept[pc] = self._found(pc)
            self._new = True
        return known

    def keep(self) -> None:
        """For the next run of the program: to read all that a table says takes longer."""
        if self._new:
            _keep(self._program, _FRAMES, msgspec.json.encode(self._kept))
            self._new = False

    @cached_property
    def _table(self) -> Any:
        return _table(self._program)

    @cached_property
    def _folders(self) -> set[str]:
        """Folders of the sources that were compiled."""
        sources = (_COMPILED_IN.sub("", path) for path in self._program.compiled)
        return {_folder(path) for path in sources if own(path)}

    def _found(self, pc: int) -> tuple[Frame, ...]:
        known = pc >= self._lowest and self._table
        found = known.lookup(pc - self._lowest) if known else ()
        frames = tuple(
            Frame(demangled(f.symbol), _COMPILED_IN.sub("", f.full_path), f.line)
            for f in found
            if f.full_path
        )
        return frames or (self._go.at(pc) if self._go else ())

    def users(self, frame: Frame) -> bool:
        """A header is a library's where no source file that was compiled stands beside it."""
        if not own(frame.path) or not _HEADER.search(frame.path) or not self._folders:
            return own(frame.path)
        return _folder(frame.path) in self._folders


def _table(program: Binary) -> Any:
    """Symbolic's table of the debug information, kept until the program changes; None if there is
    no readable debug information.
    """
    from symbolic import debuginfo, symcache  # noqa: PLC0415 (slow to load)

    cache_of: Any = symcache.SymCache
    kept = f"table{symcache.SYMCACHE_LATEST_VERSION}"
    with suppress(Exception):  # not there, or damaged
        return cache_of.from_bytes(_file(program, kept).read_bytes())
    try:
        file: Any = next(iter(debuginfo.Archive.from_bytes(program.data).iter_objects()))
        table = file.make_symcache().open_stream().read()
    except Exception:  # damaged debug information must not stop a run
        return None
    _keep(program, kept, table)
    return cache_of.from_bytes(table)


def _kept(program: Binary) -> dict[int, tuple[Frame, ...]]:
    """Frames of addresses that were resolved in earlier runs."""
    try:
        file = _file(program, _FRAMES).read_bytes()
        return msgspec.json.decode(file, type=dict[int, tuple[Frame, ...]])
    except (OSError, msgspec.MsgspecError):
        return {}


def _file(program: Binary, what: str) -> Path:
    return SYMBOLS_FOLDER / f"{program.sha256}-{what}"


def _keep(program: Binary, what: str, content: bytes) -> None:
    """A folder that cannot be written does not fail the run."""
    with suppress(OSError, UserError):
        SYMBOLS_FOLDER.mkdir(parents=True, exist_ok=True)
        write_whole(_file(program, what), content)
        trim(_file(program, what), MAX_SYMBOLS_BYTES)


@cache
def _folder(path: str) -> str:
    return posixpath.normpath(posixpath.dirname(path))


@cache
def own(path: str) -> bool:
    """True for a user's own source file. A package's tests in Go belong to the user who runs
    them.
    """
    return path.endswith("_test.go") or not _TOOLCHAIN.search(path)


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
