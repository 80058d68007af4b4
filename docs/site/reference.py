"""Writes the reference pages, whose text commands print: options, keys, tables, fields.

write(pages)         writes all of PAGES to the folder `pages`, with pictures
linked(text, page)   replaces commands that print such a page by links to the page
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.fences import page as fences

from uncore.cli import app
from uncore.drawing import protocol_diagram as diagram
from uncore.protocol import render, tables
from uncore.protocol.table_shapes import PROTOCOLS
from uncore.result import describe
from uncore.topology import page as machine
from uncore_lab.measure import record


class Page(NamedTuple):
    name: str
    text: Callable[[], str]


PAGES = (
    Page("docs/commands.md", app.document),
    Page("docs/machine.md", machine.page),
    Page("docs/protocol.md", lambda: protocols()),
    Page("docs/result.md", describe.describe),
    Page("docs/measurement.md", record.describe),
    Page("docs/fences.md", lambda: "\n".join(fences.page())),
)
DRAWN = "docs/protocol-{}.svg"
# Commands that print a page. On the site they are links to the page.
PRINTED = {
    "uncore COMMAND --help": "docs/commands.md",
    "uncore show --keys": "docs/machine.md",
    "uncore check --print": "docs/protocol.md",
    "python -m uncore.result.describe": "docs/result.md",
    "python -m uncore_lab.measure.record": "docs/measurement.md",
    "python -m tests.fences.page": "docs/fences.md",
    "uncore claims": "docs/claims.md",
    "uncore validate --only blind": "docs/ledger.md",
}


def write(pages: Path) -> None:
    for page in PAGES:
        target = pages / page.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page.text())
    for name in PROTOCOLS:
        (pages / DRAWN.format(name)).write_text(diagram.picture(tables.load(name)))


def protocols() -> str:
    """Returns the page of the protocols: first diagrams, then tables."""
    diagrams = [
        f"![states of {name.upper()}]({Path(DRAWN.format(name)).name})" for name in PROTOCOLS
    ]
    head, tables_ = render.document().split("\n## ", 1)
    return "\n\n".join([head, "## Diagrams", *diagrams, f"## {tables_}"])


def linked(text: str, page: str) -> str:
    """Replaces commands in a text by links to their pages. `page` is the path of the text, such as
    docs/cli.md.
    """
    for command, target in PRINTED.items():
        link = os.path.relpath(target, os.path.dirname(page) or ".")
        pattern = rf"(?<!\[)`{re.escape(command)}`"
        text = re.sub(pattern, f"[`{command}`]({link})", text)
    return text
