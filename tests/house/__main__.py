"""Is the house in order?  `python -m tests.house [BAR...]` measures it against bars.toml.

Each bar is printed with where the tree stands and what exceeds it; then the number of tracked files
and their bytes.  Exit status: 1 where a bar that is held is not met.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.house.bars import MEASURES, measure, table
from tests.house.tracked import tracked


def verdict(figure: float, most: float, held: bool) -> str:
    if figure > most:
        return "BROKEN" if held else "not met"
    return "met and held" if held else "met, not yet held"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.house")
    parser.add_argument("bars", nargs="*", metavar="BAR", choices=[[], *MEASURES])
    broken = False
    for bar in parser.parse_args(words).bars or MEASURES:
        row, measured = table()[bar], measure(bar)
        state = verdict(measured.figure, row["most"], row["held"])
        print(f"{bar}: {measured.figure:g}, at most {row['most']:g}: {state}")
        print(*(f"    {line}" for line in measured.lines), "", sep="\n")
        broken |= state == "BROKEN"
    size = sum(path.lstat().st_size for path in tracked())
    print(f"tracked: {len(tracked())} files, {size} bytes")
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
