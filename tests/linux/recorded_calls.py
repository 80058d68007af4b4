"""Calls drawn by seeds (drawn_calls.c), as this computer's Linux answers them.

    python -m tests.linux.recorded_calls 70

records the answers for the seeds from 0 on beside the program, in drawn_calls.txt.

answers()        -> the recorded answers, by seed
here(seed)       -> what this computer's Linux answers; in a new folder of tmpfs, which the program
                    takes for the root, so it needs the rights for that (CAN_RECORD)
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
RELEASE = "6.18"  # of the Linux that is recorded
SHARED_MEMORY = Path("/dev/shm")
CAN_RECORD = (
    sys.platform == "linux" and platform.machine() == "x86_64" and hasattr(os, "geteuid")
) and (os.geteuid() == 0 and SHARED_MEMORY.is_dir() and platform.release().startswith(RELEASE))
MOST_SECONDS = 20  # for one seed


def answers() -> dict[int, str]:
    parts = re.split(r"^# seed (\d+)\n", RECORDED.read_text(), flags=re.MULTILINE)
    return {int(seed): text for seed, text in zip(parts[1::2], parts[2::2], strict=True)}


@cache
def _program() -> bytes:
    """Compiles by the compiler of the other build: arguments are drawn in the order it chooses."""
    compiler = find_spec("ziglang")
    assert compiler is not None and compiler.origin is not None
    headers = Path(compiler.origin).parent / "lib/libc/include"
    include = [f"-isystem{headers / name}" for name in ("x86-linux-any", "any-linux-any")]
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder) / "drawn"
        command = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-musl", "-static"]
        command += ["-O2", *BARE, *include, str(HERE / "drawn_calls.c"), "-o", str(elf)]
        subprocess.run(command, check=True)
        return elf.read_bytes()


def here(seed: int) -> str:
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as folder:
        root = Path(folder)
        (root / "files").mkdir()
        (root / "program").write_bytes(_program())
        (root / "program").chmod(0o755)

        def begin() -> None:
            os.chroot(root)
            os.chdir("/files")
            os.umask(0o022)

        ended = subprocess.run(
            ["/program", str(seed)],
            preexec_fn=begin,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=MOST_SECONDS,
            check=True,
        )
    return ended.stdout.decode()


def record(seeds: int) -> None:
    RECORDED.write_text("".join(f"# seed {seed}\n{here(seed)}" for seed in range(seeds)))


if __name__ == "__main__":
    record(int(sys.argv[1]))
