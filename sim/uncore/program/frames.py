"""Finds the functions that contain a pc, including inlined ones, innermost first, with lines.

frames = Frames(program, go)         without debug information, Go's own table is used
frames.at(pc) -> (Frame("push", "queue.c", 26), Frame("main", "queue.c", 80))
frames.keep()                        saves results for the next run of the program
frames.users(frame)                  True if the frame is in one of the user's source files
is_user_source(path)                 True if a file belongs to no system or toolchain
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
MAX_SYMBOLS_BYTES = 1 << 28  # maximum size of the folder; a program of 20 MB needs 8 MB
WITHIN_CALL = 2  # bytes before a return address that belong to the call
_FRAMES = "frames1"  # to be changed when the format of the saved frames changes

# Folders of compilers, their libraries and the packages that they fetch. Go's own library, built
# with -trimpath, has paths that begin with the package's name.
_TOOLCHAIN_PATTERN = re.compile(
    r"(^|/)(usr|rustc|rust/deps|\.rustup|\.cargo/registry|vendor|pkg/mod|ziglang|zig/lib|sysdeps"
    r"|nptl|libgcc|glibc-[\d.]+|gcc-[\d.]+|musl-[\d.]+)/"
    r"|^(runtime|sync|internal|syscall|os|time|reflect|fmt|strconv|container|math|bytes)/"
    r"|^<|^$"
)

# Matches prefixes to remove. build.py compiles in the compiler's folder and removes the user's
# folder, so a path of the user begins with the compiler's folder, and a path of the compiler with
# the folders above that.
_REMOVED_PREFIX_PATTERN = re.compile(r"^.*/ziglang/(?!lib/)|^.*/(?=ziglang/lib/)")

_HEADER_PATTERN = re.compile(r"\.(h|hh|hpp|hxx|h\+\+|inc|inl|ipp|tcc|tpp)$")


class Frame(NamedTuple):
    """A function, with the position in its source."""

    function: str
    path: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}" if self.path else ""


class Binary(Protocol):
    """The part of a Program that frames are computed from."""

    @property
    def data(self) -> bytes: ...

    @property
    def sha256(self) -> str: ...

    @property
    def segments(self) -> tuple[Segment, ...]: ...

    @property
    def compiled(self) -> Iterable[str]:
        """The source files, as debug information names them."""


class CallTable(Protocol):
    """A program's own table of functions and lines, such as Go's."""

    def at(self, pc: int) -> tuple[Frame, ...]: ...


class Frames:
    """The frames of a program's instructions."""

    def __init__(self, program: Binary, go: CallTable | None) -> None:
        self._program, self._go = program, go
        self._lowest = min(segment.address for segment in program.segments)
        self._kept = _kept(program)
        self._is_changed = False

    def at(self, pc: int) -> tuple[Frame, ...]:
        frames = self._kept.get(pc)
        if frames is None:
            frames = self._kept[pc] = self._find_frames(pc)
            self._is_changed = True
        return frames

    def keep(self) -> None:
        """Saves the frames that were found for the program's next run, because reading the whole
        table takes longer.
        """
        if self._is_changed:
            _keep(self._program, _FRAMES, msgspec.json.encode(self._kept))
            self._is_changed = False

    @cached_property
    def _table(self) -> Any:
        return _table(self._program)

    @cached_property
    def _folders(self) -> set[str]:
        """Folders of the source files that were compiled."""
        sources = (_REMOVED_PREFIX_PATTERN.sub("", path) for path in self._program.compiled)
        return {_folder(path) for path in sources if is_user_source(path)}

    def _find_frames(self, pc: int) -> tuple[Frame, ...]:
        table = pc >= self._lowest and self._table
        entries = table.lookup(pc - self._lowest) if table else ()
        frames = tuple(
            Frame(demangled(f.symbol), _REMOVED_PREFIX_PATTERN.sub("", f.full_path), f.line)
            for f in entries
            if f.full_path
        )
        return frames or (self._go.at(pc) if self._go else ())

    def users(self, frame: Frame) -> bool:
        """True if the frame is in a file of the user. For a header, there must also be a compiled
        source file in its folder.
        """
        if (
            not is_user_source(frame.path)
            or not _HEADER_PATTERN.search(frame.path)
            or not self._folders
        ):
            return is_user_source(frame.path)
        return _folder(frame.path) in self._folders


def _table(program: Binary) -> Any:
    """Returns Symbolic's table of the debug information, which is cached until the program changes;
    None if there is no readable debug information.
    """
    from symbolic import debuginfo, symcache  # noqa: PLC0415 (slow to load)

    cache_of: Any = symcache.SymCache
    cached_name = f"table{symcache.SYMCACHE_LATEST_VERSION}"
    with suppress(Exception):  # missing or damaged
        return cache_of.from_bytes(_file(program, cached_name).read_bytes())
    try:
        file: Any = next(iter(debuginfo.Archive.from_bytes(program.data).iter_objects()))
        table = file.make_symcache().open_stream().read()
    except Exception:  # damaged debug information must not stop a run
        return None
    _keep(program, cached_name, table)
    return cache_of.from_bytes(table)


def _kept(program: Binary) -> dict[int, tuple[Frame, ...]]:
    """Returns the frames of addresses that were resolved in earlier runs."""
    try:
        file = _file(program, _FRAMES).read_bytes()
        return msgspec.json.decode(file, type=dict[int, tuple[Frame, ...]])
    except (OSError, msgspec.MsgspecError):
        return {}


def _file(program: Binary, name: str) -> Path:
    return SYMBOLS_FOLDER / f"{program.sha256}-{name}"


def _keep(program: Binary, name: str, content: bytes) -> None:
    """Saves a file in the cache, or does nothing if the folder is not writable."""
    with suppress(OSError, UserError):
        SYMBOLS_FOLDER.mkdir(parents=True, exist_ok=True)
        write_whole(_file(program, name), content)
        trim(_file(program, name), MAX_SYMBOLS_BYTES)


@cache
def _folder(path: str) -> str:
    return posixpath.normpath(posixpath.dirname(path))


@cache
def is_user_source(path: str) -> bool:
    """True for a source file of the user, to which tests of a Go package belong."""
    return path.endswith("_test.go") or not _TOOLCHAIN_PATTERN.search(path)


@cache
def demangled(name: str) -> str:
    """Returns a function's or object's name in its language, without arguments."""
    if not name.startswith(("_Z", "_R")):
        return name
    from pydemumble import demangle  # noqa: PLC0415 (slow to load)

    return _without_arguments(demangle(name).removesuffix(" const")) or name


def _without_arguments(name: str) -> str:
    """Removes the last parenthesized part, if the name ends in one."""
    depth = 0
    for position in range(len(name) - 1, -1, -1) if name.endswith(")") else ():
        depth += {")": 1, "(": -1}.get(name[position], 0)
        if depth == 0:
            return name[:position]
    return name
