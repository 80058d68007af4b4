"""Answers of a real Linux to the calls of mail.c. QEMU's user mode does not give them all.

    python -m tests.linux.mail

This command records the answers of this computer's Linux in mail.txt. A user without rights
asks for those of OF_USERS, since Linux limits root less.

    ANSWERS            the answers on file, by word
    answers_here(word) the answers of this computer's Linux
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from tests.linux.drawn_calls import program_here
from tests.linux.programs import HERE

RECORDED = HERE / "mail.txt"
WORDS = "passed controls streams cycles bounded credentials many shared clocks filled".split()
WORDS += ["rows", "torn"]
OF_USERS = {"bounded": ["--nofile=1024"]}
NOBODY = 65534
TIMEOUT_S = 20
ANSWERS: dict[str, str] = (
    dict(re.findall(r"^# (\w+)\n((?:[^#\n].*\n)+)", RECORDED.read_text(), re.MULTILINE))
    if RECORDED.exists()
    else {}
)


def answers_here(word: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder) / "program"
        elf.write_bytes(program_here("mail"))
        elf.chmod(0o755)
        Path(folder).chmod(0o755)
        limits = ["prlimit", *OF_USERS[word]] if word in OF_USERS else []
        user = ["setpriv", f"--reuid={NOBODY}", "--clear-groups"] if word in OF_USERS else []
        command = [*limits, *user, str(elf), word]
        completed = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=True
        )
    return completed.stdout.decode().lstrip("\n")


def record() -> None:
    RECORDED.write_text("".join(f"# {word}\n{answers_here(word)}" for word in WORDS))


if __name__ == "__main__":
    record()
