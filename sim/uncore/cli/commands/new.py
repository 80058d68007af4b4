"""The command `new`: writes a commented lock or machine that runs unchanged, or the schema of
machine files, by which editors complete keys.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from uncore.cli.status import OK
from uncore.drawing.table import say
from uncore.job.option_values import check_outputs
from uncore.support.output_files import write_whole
from uncore.support.output_kinds import OutputKind
from uncore.topology.json_schema import json_schema

STARTS_FOLDER = Path(__file__).parents[1] / "starts"
ENDINGS = {"lock": ".c", "machine": ".toml", "schema": ".json"}
NEXT_STEPS = {
    "lock": "a lock that runs as it is; change it. Now: uncore run graviton2 {} --threads 1,2..64",
    "machine": "a machine that runs as it is; change it. Now: uncore show {}",
    "schema": "with this first line of a machine file, an editor completes keys:\n#:schema {}",
}


def new(
    what: Annotated[Literal["lock", "machine", "schema"], Parameter(help="kind of file to write")],
    file: Annotated[
        Path,
        Parameter(help="file to write: .c for a lock, .toml for a machine, .json for the schema"),
    ],
) -> int:
    check_outputs({"FILE": file}, {"FILE": OutputKind(f"a {what}", {ENDINGS[what]: None})})
    write_whole(file, _text(what).replace("THIS_FILE", str(file)))
    say(f"{file}: {NEXT_STEPS[what].format(_name_for_next_step(what, file))}")
    return OK


def _text(what: str) -> str:
    if what == "schema":
        return json.dumps(json_schema(), indent=1) + "\n"
    return (STARTS_FOLDER / what).with_suffix(ENDINGS[what]).read_text()


def _name_for_next_step(what: str, file: Path) -> str:
    """Returns the file's name as the suggested next step writes it: for a schema, relative to the
    folder of the machine file.
    """
    return f"./{file}" if what == "schema" and not file.is_absolute() else str(file)
