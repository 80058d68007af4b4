"""Compiles programs, both shipped workloads and a user's C file.

    build(source, elf)                  a guest; raises UserError with the compiler's message
    build(source, elf, for_=HOST)       the same C for this computer, with a thread for each hart
    command(source, elf)                the command line itself
    files(source)                       the files of which a guest is compiled, without the runtime

Invariant: equal sources of a guest give equal ELF bytes, independent of paths, host and date,
because the compiler's version is pinned and paths are replaced.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from uncore.errors import UserError
from uncore.program import sources
from uncore.support import paths

ZIG = (sys.executable, "-P", "-m", "ziglang")
ZIG_CC = (*ZIG, "cc")


@dataclass(frozen=True)
class Target:
    """A target to compile for: a compiler with its options, and a folder of runtime/."""

    compiler: tuple[str, ...]
    folder: str
    words: tuple[str, ...]


# Linux programs: for RV64GC, the target's default, with musl and libc++ linked statically, and with
# frame pointers for stack traces; HOST_TARGET is the corresponding target for this computer.
GUEST_TARGET = "riscv64-linux-musl"
HOST_TARGET = f"{platform.machine()}-linux-musl"
LINUX_OPTIONS = ("-static", "-O2", "-g", "-fno-omit-frame-pointer", "-fno-sanitize=undefined")
LINUX_ZIG_OPTIONS = ("-OReleaseSafe", "-fno-strip")
# Guests have no compressed instructions, no compare-and-swap instruction and no sub-word atomics,
# so that every engine runs the same bytes.
TARGET = [
    "-target", "riscv64-freestanding-none",
    "-mcpu=generic_rv64+m+a+zicsr+zifencei",
    "-mabi=lp64",
    "-mcmodel=medany",
]  # fmt: skip
LANGUAGE_OPTIONS = ["-std=c17", "-O2"]
BARE_METAL_OPTIONS = [
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
DEBUG_OPTIONS = ["-g", "-gdwarf-4", "-ffile-compilation-dir=."]

GUEST = Target(ZIG_CC, "guest", (*TARGET, *BARE_METAL_OPTIONS, *DEBUG_OPTIONS))
# Symbols are hidden, because a parameter may have the name of a function in the C library.
HOST_THREAD_OPTIONS = ("-DUC_HOST", "-pthread", "-fvisibility=hidden", "-g")
HOST = Target(
    ZIG_CC,
    "host",
    ("-target", "x86_64-linux-gnu.2.28", "-Wl,--no-gc-sections", *HOST_THREAD_OPTIONS),
)
# The system's compiler, because it has the sanitizer's library; -Wno-tsan because ThreadSanitizer
# does not support fences.
HOST_SANITIZED = Target(("cc",), "host", (*HOST_THREAD_OPTIONS, "-fsanitize=thread", "-Wno-tsan"))

FIRST_COMPILE_TIMEOUT_S = 900  # limit for a compilation that includes the C library
SILENT_COMPILE_S = 5  # time after which a message explains why the compilation takes long
COMPILE_TIMEOUT_S = 60  # six times the slowest compilation
MAX_COMPILER_BYTES = 8 << 30

ZIG_CACHE = paths.CHECKOUT / "build/zig" if paths.CHECKOUT else paths.CACHE / "zig"


def command(
    source: Path,
    elf: Path,
    defines: Iterable[str] = (),
    for_: Target = GUEST,
    more: Iterable[str] = (),
) -> list[str]:
    """Returns the command line that compiles `source` and the runtime into `elf`, with the options
    `more`.
    """
    runtime = paths.WORKLOADS / "runtime"
    folders = (runtime, runtime / for_.folder)
    is_shipped = source.is_relative_to(paths.WORKLOADS)
    strict = ["-Wall", "-Wextra", "-Werror"] if is_shipped else []
    # Paths appear in messages and debug information as lock/ticket.c, runtime/gather.c, my_lock.c.
    roots = [paths.WORKLOADS] if is_shipped else [paths.WORKLOADS, source.parent]
    return [
        *for_.compiler, *LANGUAGE_OPTIONS, *strict, *for_.words,
        *(f"-ffile-prefix-map={root}/=" for root in roots),
        *(f"-D{define}" for define in defines),
        *more,
        f"-I{paths.WORKLOADS / 'include'}",
        *(f"-T{script}" for script in folders[1].glob("*.ld")),
        *(str(file) for folder in folders for file in sorted(folder.glob("*.[cS]"))),
        str(source),
        "-o", str(elf),
    ]  # fmt: skip


def _compiler_folder() -> Path:
    """Returns the compiler's working directory, relative to which its headers have the same names
    on every host.
    """
    zig = importlib.util.find_spec("ziglang")
    if zig is None or not zig.submodule_search_locations:
        raise UserError(
            "compiling a C file needs the package ziglang, which is not installed here;"
            " write: pip install ziglang"
        )
    return Path(zig.submodule_search_locations[0])


def build(
    source: Path,
    elf: Path,
    defines: Iterable[str] = (),
    for_: Target = GUEST,
    more: Iterable[str] = (),
) -> None:
    """Compiles `source` into `elf`, writing a complete file or none."""
    source, elf = source.resolve(), elf.resolve()
    try:
        elf.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{elf.parent}: compiled programs are kept there, and it cannot be made:"
            f" {error.strerror}; name another folder in the environment variable XDG_CACHE_HOME"
        ) from None
    unfinished = elf.with_name(f".{elf.name}.{os.getpid()}")
    try:
        _compile(source, command(source, unfinished, defines, for_, more))
        unfinished.chmod(0o644 if for_ is GUEST else 0o755)
        unfinished.replace(elf)
    finally:
        unfinished.unlink(missing_ok=True)


def build_for_linux(
    sources: list[Path], elf: Path, flags: Iterable[str], target: str = GUEST_TARGET
) -> None:
    """Compiles a static program for Linux from C, C++ or Zig files.

    It always compiles, since headers may have changed; the compiler's own cache avoids repeated
    work.  The first time it also compiles its C library.
    """
    elf.parent.mkdir(parents=True, exist_ok=True)
    unfinished = elf.with_name(f".{elf.name}.{os.getpid()}")
    driver = "c++" if any(s.suffix in (".cc", ".cpp", ".cxx") for s in sources) else "cc"
    driver_is_c = not any(source.suffix == ".zig" for source in sources)
    if not driver_is_c:
        words = [*ZIG, "build-exe", *LINUX_ZIG_OPTIONS, *flags, f"-femit-bin={unfinished}"]
    else:
        words = [*ZIG, driver, *LINUX_OPTIONS, *flags, "-o", str(unfinished)]
    try:
        words += ["-target", target]
        include = f"-I{paths.WORKLOADS / 'include'}"
        if driver_is_c:
            words.append(f"-ffile-prefix-map={sources[0].parent}/=")
        _compile(sources[0], [*words, include, *map(str, sources)], FIRST_COMPILE_TIMEOUT_S)
        unfinished.replace(elf)
    finally:
        unfinished.unlink(missing_ok=True)


def build_object(source: Path, object_file: Path) -> None:
    """Compiles one of uncore's files for this computer, to be linked with a user's program."""
    object_file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = object_file.with_name(f".{os.getpid()}.{object_file.name}")
    try:
        words = [
            *ZIG_CC,
            "-target",
            HOST_TARGET,
            *LANGUAGE_OPTIONS,
            "-c",
            str(source),
            "-o",
            str(unfinished),
        ]
        _compile(source, words, FIRST_COMPILE_TIMEOUT_S)
        unfinished.replace(object_file)
    finally:
        unfinished.unlink(missing_ok=True)


def files(source: Path) -> list[Path]:
    """Returns `source` and every header that it includes, except those of the compiler."""
    folder = f"-I{paths.WORKLOADS / 'include'}"
    output = _compile(
        source, [*GUEST.compiler, *LANGUAGE_OPTIONS, *TARGET, folder, "-MM", str(source)]
    )
    rule = output.replace("\\\n", " ").partition(": ")[2]
    words = re.findall(r"(?:\\ |\S)+", rule)
    return [Path(word.replace("\\ ", " ")) for word in words]


def _compile(source: Path, words: list[str], timeout_s: int = 0) -> str:
    """Compiles a file and returns the compiler's output.

    The compiler starts other processes, so on failure its whole process group is killed.
    """
    timeout_s = timeout_s or COMPILE_TIMEOUT_S
    sources.check(source, [paths.WORKLOADS / "include"])
    with subprocess.Popen(
        words,
        cwd=_compiler_folder(),
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        process_group=0,
        preexec_fn=lambda: _limit(timeout_s),
    ) as compiler:
        try:
            printed, errors = _read_output(compiler, source, timeout_s)
        except subprocess.TimeoutExpired:
            raise UserError(
                f"{source.name}: the compiler has not ended after {timeout_s} s: does the file take"
                " in a device, or have the compiler compute for ever?"
            ) from None
        finally:
            if compiler.poll() is None:
                os.killpg(compiler.pid, signal.SIGKILL)
    if compiler.returncode:
        is_bare_metal = TARGET[1] in words
        raise UserError(f"{source.name}: does not compile:\n{_message(errors, is_bare_metal)}")
    return printed


def _read_output(compiler: subprocess.Popen[str], source: Path, timeout_s: int) -> tuple[str, str]:
    """Returns the compiler's output on its two streams.

    A first program in C or C++ also compiles the library, which is announced on a terminal.
    """
    if timeout_s == FIRST_COMPILE_TIMEOUT_S and sys.stderr.isatty():
        try:
            return compiler.communicate(timeout=SILENT_COMPILE_S)
        except subprocess.TimeoutExpired:
            library = "its C or C++ library is compiled with it the first time, for a minute or two"
            sys.stderr.write(f"{source.name}: compiling; {library}\n")
    return compiler.communicate(timeout=timeout_s)


def _limit(timeout_s: int) -> None:
    """Limits time and memory in the compiler's process."""
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_COMPILER_BYTES, MAX_COMPILER_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (2 * timeout_s, 2 * timeout_s))


def _environment() -> Mapping[str, str]:
    """Returns the compiler's environment, without LD_PRELOAD, because a preloaded sanitizer would
    need more memory.
    """
    caches = {f"ZIG_{scope}_CACHE_DIR": str(ZIG_CACHE) for scope in ("GLOBAL", "LOCAL")}
    return {name: word for name, word in os.environ.items() if name != "LD_PRELOAD"} | caches


def _message(stderr: str, is_bare_metal: bool) -> str:
    """Returns the compiler's message, with a hint if a header of the C library is missing."""
    reason = stderr.strip() or "the compiler gave no reason"
    if is_bare_metal and re.search(r"fatal error: '[\w/]+\.h' file not found", reason):
        reason += "\nThere is no C library: a workload has uncore.h, and what stands beside it."
    return reason
