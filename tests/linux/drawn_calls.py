"""Answers of a real Linux to random system calls, which drawn_calls.c draws by a seed.

    python -m tests.linux.drawn_calls 120

This command records the answers of this computer's Linux to seeds 0 to 119, and to those of
FURTHER_SEEDS, in drawn_calls.txt.

    recorded_answers()        the answers on file, by seed
    program_here(name)        NAME.c of this folder, compiled for this computer
    answers_here(seed)        the answers of this computer's Linux. The program runs in a new folder
                              of tmpfs as its root, so chroot() must be allowed (CAN_RECORD).
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.linux.programs import BARE, HERE

RECORDED = HERE / "drawn_calls.txt"
RELEASE = "6.18"  # version of the Linux whose answers are on file
SHARED_MEMORY = Path("/dev/shm")
CAN_RECORD = (
    sys.platform == "linux" and platform.machine() == "x86_64" and hasattr(os, "geteuid")
) and (os.geteuid() == 0 and SHARED_MEMORY.is_dir() and platform.release().startswith(RELEASE))
SEED_TIMEOUT_S = 20
# Each of these was answered differently by the simulator until what it found was mended.
FURTHER_SEEDS = (139, 214, 406, 682, 934, 1043, 1403, 1450, 2159, 2501)
FURTHER_SEEDS += (3018, 4110, 4211, 4267, 4282, 4373, 4447, 4917)


def recorded_answers() -> dict[int, str]:
    parts = re.split(r"^# seed (\d+)\n", RECORDED.read_text(), flags=re.MULTILINE)
    return {int(seed): text for seed, text in zip(parts[1::2], parts[2::2], strict=True)}


@cache
def program_here(name: str) -> bytes:
    """Compiles NAME.c for x86-64 with the compiler that also makes the RISC-V program, because the
    order in which a compiler evaluates arguments decides what is drawn.
    """
    compiler = find_spec("ziglang")
    assert compiler is not None and compiler.origin is not None
    headers = Path(compiler.origin).parent / "lib/libc/include"
    include = [f"-isystem{headers / name}" for name in ("x86-linux-any", "any-linux-any")]
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder) / name
        command = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-musl", "-static"]
        command += ["-O2", *BARE, *include, str(HERE / f"{name}.c"), "-o", str(elf)]
        subprocess.run(command, check=True)
        return elf.read_bytes()


def answers_here(seed: int) -> str:
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as folder:
        root = Path(folder)
        (root / "files").mkdir()
        (root / "program").write_bytes(program_here("drawn_calls"))
        (root / "program").chmod(0o755)

        def enter_root() -> None:
            os.chroot(root)
            os.chdir("/files")
            os.umask(0o022)

        completed = subprocess.run(
            ["/program", str(seed)],
            preexec_fn=enter_root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SEED_TIMEOUT_S,
            check=True,
        )
    return completed.stdout.decode()


def record(seeds: int) -> None:
    every_seed = [*range(seeds), *FURTHER_SEEDS]
    RECORDED.write_text("".join(f"# seed {seed}\n{answers_here(seed)}" for seed in every_seed))


if __name__ == "__main__":
    record(int(sys.argv[1]))
