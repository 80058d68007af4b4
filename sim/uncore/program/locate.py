"""Finds programs: shipped ones by name, any ELF by path, a user's own C file by compiling it.

find("lock/ticket")   load("x.elf")   compile("my_lock.c")   shipped() -> all, by name
source_of(program) -> the C file of a program
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from uncore.errors import UserError, suggestion
from uncore.program import build
from uncore.program.program import Program
from uncore.support import paths

MAX_PROGRAM_BYTES = 1 << 28  # far above any guest; a mistaken path may name a disk image


def load(path: str | Path) -> Program:
    """Reads an ELF file."""
    path = Path(path)
    return Program(path.stem, path, _contents(path))


def _contents(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # reading a pipe or a device may never end
            raise UserError(f"{path}: cannot be read: it is not a regular file")
        if path.is_file() and path.stat().st_size > MAX_PROGRAM_BYTES:
            raise UserError(f"{path}: too large for a guest program ({path.stat().st_size} bytes)")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error


def catalogue() -> dict[str, Path]:
    """Returns the shipped workloads by name, with their files."""
    elves = sorted(paths.GUESTS.glob("*/*.elf"))
    return {elf.relative_to(paths.GUESTS).with_suffix("").as_posix(): elf for elf in elves}


def shipped() -> list[Program]:
    """Returns every shipped workload."""
    return [Program(name, elf, _contents(elf)) for name, elf in catalogue().items()]


def find(name: str) -> Program:
    """Returns a shipped workload by its name."""
    shipped = catalogue()
    if not shipped:
        raise UserError(
            f"no workload '{name}': the guest programs are not built; run scripts/run, or in a"
            " checkout: python -m SCons workloads"
        )
    if name not in shipped:
        raise UserError(
            f"no workload is called '{name}'.{suggestion(name, shipped, 3)} `uncore list` names all"
            f" {len(shipped)}; a C file or an ELF is given by its path"
        )
    return Program(name, shipped[name], _contents(shipped[name]))


def source_of(program: Program) -> Path:
    """Returns the C file of a shipped workload, or that from which the program was compiled."""
    shipped_source = paths.WORKLOADS / f"{program.name}.c"
    for source in (shipped_source, program.path):
        if source.suffix == ".c" and source.is_file():
            return source
    if program.linux:
        raise UserError(
            f"{program.path}: an ELF for RISC-V, which this computer does not run; give --host the"
            " program's source files"
        )
    raise UserError(
        f"{program.path}: an ELF has only a guest's instructions, and this needs the C file"
    )


LINUX_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".zig")


def is_for_linux(path: Path, has_more_inputs: bool = False) -> bool:
    """True for a source file of a Linux program, which has main() where a workload has uc_main().

    If `has_more_inputs`, there are other files or options, so main() may be in another file.
    """
    if path.suffix != ".c":
        return True
    text = _contents(path).decode(errors="replace")
    return "uc_main" not in text and (
        has_more_inputs or re.search(r"\bmain\s*\(", text) is not None
    )


def elf_of(
    path: Path, sources: tuple[Path, ...], flags: tuple[str, ...], target: str = build.GUEST_TARGET
) -> Path:
    """Returns the path at which the compiled program is cached; it depends on the contents of all
    files and on the options.
    """
    texts = [_contents(file) for file in (path, *sources)]
    files = [file.resolve() for file in (path, *sources)]
    command = "\0".join([target, *map(str, files), *flags]).encode()
    digest = hashlib.sha256(b"\0".join([command, *texts])).hexdigest()[:16]
    return paths.CACHE / "programs" / digest / f"{path.stem}.elf"


def compile_for_linux(path: Path, sources: tuple[Path, ...], flags: tuple[str, ...]) -> Program:
    """Compiles a Linux program; the result is cached by files and options."""
    elf = elf_of(path, sources, flags)
    build.build_for_linux([file.resolve() for file in (path, *sources)], elf, flags)
    return Program(path.stem, path, _contents(elf))


def compile(path: str | Path, defines: Iterable[str] = ()) -> Program:
    """Compiles a C file, reusing the cached result if nothing has changed."""
    path = Path(path)
    _contents(path)  # raises uncore's error message if the file is missing
    source, defines = path.resolve(), tuple(defines)
    digest = hashlib.sha256(" ".join((str(source), *defines)).encode()).hexdigest()[:16]
    elf = paths.CACHE / "guests" / digest / f"{path.stem}.elf"
    build.build(source, elf, defines)
    return Program(path.stem, path, _contents(elf))
