"""Compares metrics of the tree with the limits in bars.toml: `python -m tests.house [BAR...]`.

It prints each metric with its present value, its limit if it has one, and the lines that contribute
to it.  After that it prints the number of tracked files and their bytes.  The exit status is 1 if a
limit is exceeded.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.house.bars import MEASURES, measure, table
from tests.house.tracked import tracked


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.house")
    parser.add_argument("bars", nargs="*", metavar="BAR", choices=[[], *MEASURES])
    broken = False
    for bar in parser.parse_args(arguments).bars or MEASURES:
        measured, head = measure(bar), bar
        if bar in table():
            most = table()[bar]["most"]
            exceeds = measured.figure > most
            broken |= exceeds
            head += f", at most {most:g}{': BROKEN' if exceeds else ''}"
        print(f"{head}: {measured.figure:g}")
        print(*(f"    {line}" for line in measured.lines), "", sep="\n")
    size = sum(path.lstat().st_size for path in tracked())
    print(f"tracked: {len(tracked())} files, {size} bytes")
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
