"""What `uncore show WORKLOAD` prints: its parameters, what it checks, and where its source is.

Interface: `show(program, as_json)`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from uncore.drawing.table import Column, emit, print_json, say
from uncore.errors import UserError
from uncore.program import Program
from uncore.program.checks import Check, checks
from uncore.program.locate import source_of

PARAMETERS = [
    Column("parameter", "name", left=True, about="as --set names it"),
    Column("default", "default", left=True, about="its value if nothing is set"),
    Column("type", "type", left=True, about="what is expected, or the words there are"),
    Column("what it is", "about", left=True),
]
CHECKS = [
    Column("fails if", "what", left=True, about="what a self-check of the program has found"),
    Column("where", lambda row: f"{row['file']}:{row['line']}", left=True, about="file and line"),
]


def show(program: Program, as_json: bool) -> None:
    found = _document(program)
    if as_json:
        print_json(found)
        return
    say(f"{program.name}: {program.summary}\n")
    emit(found["parameters"], False, PARAMETERS, "parameters, for --set")
    if found["checks"]:
        emit(found["checks"], False, CHECKS, "self-checks")
    if len(found["kinds"]) > 1:
        say(f"kinds of operations: {', '.join(found['kinds'])}")
    source = f"{found['source']}, {found['lines']} lines" if found["source"] else "not known"
    say(f"source: {source}")


def _document(program: Program) -> dict[str, Any]:
    source, stated = _source(program)
    return {
        "name": program.name,
        "about": program.summary,
        "source": source,
        "lines": source and len(Path(source).read_text().splitlines()),
        "kinds": list(program.kinds),
        "parameters": [
            {
                "name": one.name,
                "default": one.show(one.default),
                "type": " ".join(one.choices) or one.type,
                "about": one.help,
            }
            for one in program.params
        ],
        "checks": [vars(check) for check in stated],
    }


def _source(program: Program) -> tuple[str | None, list[Check]]:
    """An ELF alone does not have its source."""
    try:
        return str(source_of(program)), checks(program)
    except UserError:
        return None, []
