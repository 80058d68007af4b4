"""A start for something of one's own: a file, with comments, that runs as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from uncore.cli.status import OK
from uncore.drawing.table import say
from uncore.job.option_values import check_outputs
from uncore.support.output_files import write_whole
from uncore.support.output_kinds import OutputKind

STARTS = Path(__file__).parents[1] / "starts"
NEXT = {"lock": "uncore run graviton2 {} --threads 1,2..64", "machine": "uncore show {}"}


def new(
    what: Annotated[Literal["lock", "machine"], Parameter(help="what it is to be")],
    file: Annotated[Path, Parameter(help="the file: .c of a lock, .toml of a machine")],
) -> int:
    (start,) = STARTS.glob(f"{what}.*")
    check_outputs({"FILE": file}, {"FILE": OutputKind(f"a {what}", {start.suffix: None})})
    write_whole(file, start.read_text().replace("THIS_FILE", str(file)))
    say(f"{file}: a {what} that runs as it is; change it. Now: {NEXT[what].format(file)}")
    return OK
