"""The one command that compiles a guest program, for shipped workloads and for a user's C file.

    build(source, elf)      compiles, or raises UserError with the compiler's message
    command(source, elf)    the command line itself

Invariant: equal sources give equal ELF bytes whatever the paths, the host and the day: the compiler
is pinned, and paths are mapped away before they reach the file.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from uncore import paths
from uncore.errors import UserError

# The canonical guest: no compressed instructions, no compare-and-swap instruction, no sub-word
# atomics, so that every engine runs the same bytes.
TARGET = [
    "-target", "riscv64-freestanding-none",
    "-mcpu=generic_rv64+m+a+zicsr+zifencei",
    "-mabi=lp64",
    "-mcmodel=medany",
]  # fmt: skip
LANGUAGE = ["-std=c17", "-O2"]
BARE = [
    "-ffreestanding",
    "-nostdlib",
    "-static",
    "-fno-pic",
    "-fno-builtin",
    "-fno-sanitize=undefined",
    "-fno-stack-protector",
    "-fomit-frame-pointer",
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
]
DEBUG = ["-g", "-gdwarf-4", "-ffile-compilation-dir=."]

ZIG_CACHE = paths.CHECKOUT / "build/zig" if paths.CHECKOUT else paths.CACHE / "zig"


def command(source: Path, elf: Path, defines: Iterable[str] = ()) -> list[str]:
    """The command line that compiles `source` and the runtime into `elf`."""
    runtime = paths.WORKLOADS / "runtime"
    ours = source.is_relative_to(paths.WORKLOADS)
    strict = ["-Wall", "-Wextra", "-Werror"] if ours else []
    # Names in messages and debug information: lock/ticket.c, runtime/trap.c, my_lock.c.
    roots = [paths.WORKLOADS] if ours else [paths.WORKLOADS, source.parent]
    return [
        sys.executable, "-P", "-m", "ziglang", "cc",
        *TARGET, *LANGUAGE, *strict, *BARE, *DEBUG,
        *(f"-ffile-prefix-map={root}/=" for root in roots),
        *(f"-D{define}" for define in defines),
        f"-I{paths.WORKLOADS / 'include'}",
        "-T", str(runtime / "link.ld"),
        *map(str, sorted([*runtime.glob("*.S"), *runtime.glob("*.c")])),
        str(source),
        "-o", str(elf),
    ]  # fmt: skip


def _compiler_folder() -> Path:
    """Where the compiler runs: from there it names its own headers the same way on every host."""
    zig = importlib.util.find_spec("ziglang")
    if zig is None or not zig.submodule_search_locations:
        raise UserError(
            "compiling a C file needs the package ziglang, which is not installed here;"
            " write: pip install ziglang"
        )
    return Path(zig.submodule_search_locations[0])


def build(source: Path, elf: Path, defines: Iterable[str] = ()) -> None:
    """Compiles `source` into `elf`, whole or not at all."""
    source, elf = source.resolve(), elf.resolve()
    elf.parent.mkdir(parents=True, exist_ok=True)
    unfinished = elf.with_name(f".{elf.name}.{os.getpid()}")
    try:
        compiler = subprocess.run(
            command(source, unfinished, defines),
            cwd=_compiler_folder(),
            env=_environment(),
            capture_output=True,
            text=True,
            errors="replace",
        )
        if compiler.returncode:
            raise UserError(f"{source.name}: does not compile:\n{_message(compiler.stderr)}")
        unfinished.chmod(0o644)
        unfinished.replace(elf)
    finally:
        unfinished.unlink(missing_ok=True)


def _environment() -> Mapping[str, str]:
    caches = {f"ZIG_{scope}_CACHE_DIR": str(ZIG_CACHE) for scope in ("GLOBAL", "LOCAL")}
    return {**os.environ, **caches}


def _message(stderr: str) -> str:
    """What the compiler said, without the remarks of its driver."""
    return stderr.strip() or "the compiler gave no reason"
