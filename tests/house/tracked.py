"""The tracked files of the checkout, by kind."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
CPP = (".cc", ".hh")


@cache
def tracked() -> tuple[Path, ...]:
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=TOP, text=True)
    paths = (TOP / name for name in listed.split("\0") if name)
    return tuple(path for path in paths if path.is_file())


def of_kind(*suffixes: str) -> list[Path]:
    return [path for path in tracked() if path.suffix in suffixes]


def name(path: Path) -> str:
    return str(path.relative_to(TOP))
