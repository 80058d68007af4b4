"""The report of `uncore show WORKLOAD`: a workload's parameters, checks and source file.

`show(program, as_json)` prints it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from uncore.drawing.table import Column, emit, print_json, say
from uncore.errors import UserError
from uncore.program import Program
from uncore.program.checks import Check, checks
from uncore.program.locate import source_of

PARAMETER_COLUMNS = [
    Column("parameter", "name", left=True, about="name for --set"),
    Column("default", "default", left=True, about="default value"),
    Column("type", "type", left=True, about="expected kind of value, or the possible words"),
    Column("what it is", "about", left=True),
]
CHECK_COLUMNS = [
    Column("fails if", "what", left=True, about="fault that a self-check of the program detects"),
    Column("where", lambda row: f"{row['file']}:{row['line']}", left=True, about="file and line"),
]


def show(program: Program, as_json: bool) -> None:
    document = _document(program)
    if as_json:
        print_json(document)
        return
    say(f"{program.name}: {program.summary}\n")
    emit(document["parameters"], False, PARAMETER_COLUMNS, "parameters, for --set")
    if document["checks"]:
        emit(document["checks"], False, CHECK_COLUMNS, "self-checks")
    if len(document["kinds"]) > 1:
        say(f"kinds of operations: {', '.join(document['kinds'])}")
    source = (
        f"{document['source']}, {document['lines']} lines" if document["source"] else "not known"
    )
    say(f"source: {source}")


def _document(program: Program) -> dict[str, Any]:
    source, stated_checks = _source(program)
    return {
        "name": program.name,
        "about": program.summary,
        "source": source,
        "lines": source and len(Path(source).read_text().splitlines()),
        "kinds": list(program.kinds),
        "parameters": [
            {
                "name": parameter.name,
                "default": parameter.show(parameter.default),
                "type": " ".join(parameter.choices) or parameter.type,
                "about": parameter.help,
            }
            for parameter in program.params
        ],
        "checks": [vars(check) for check in stated_checks],
    }


def _source(program: Program) -> tuple[str | None, list[Check]]:
    """Returns a program's source file and checks; (None, []) if it is only an ELF file."""
    try:
        return str(source_of(program)), checks(program)
    except UserError:
        return None, []
