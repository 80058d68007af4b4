"""Writes docs/uncore.1, which a wheel installs for `man uncore`: `python -m tests.docs.man_page`.

    page() -> str       the text that the file must have

No text is repeated in this module.  Commands and options come from the parser (cyclopts writes them
as reStructuredText), columns from the tables, and exit statuses from docs/cli.md.  docutils
converts all to a manual page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from docutils.core import publish_string
from tests.docs.pages import ROOT

from uncore.cli import app as cli
from uncore.cli.commands import COMMANDS
from uncore.support import plugins
from uncore.support.output_files import write_whole
from uncore.support.plugins import Command
from uncore.support.version import __version__

FILE = ROOT / "docs/uncore.1"
SECTION = re.compile(r"^\.\. _cyclopts-uncore-([\w-]+):\n\n\1\n(-+)\n", re.MULTILINE)
STATUS = re.compile(r"^\| (\d+) \| (.+) \|$", re.MULTILINE)
WARNING = 2  # report level of docutils for warnings
SETTINGS = {
    "report_level": WARNING,
    "halt_level": WARNING,
    "input_encoding": "unicode",
    "output_encoding": "unicode",
}
WHOLE_WORDS = ".nh"  # troff request that turns hyphenation off, so that options stay whole
SPECIAL = re.compile(r"([\\*`|_])")
Commands = Mapping[str, Command]


def page() -> str:
    made = publish_string("\n".join(_source()), writer="manpage", settings_overrides=SETTINGS)
    return str(made).replace(".SH Name", f"{WHOLE_WORDS}\n.SH Name", 1)


def _source() -> Iterator[str]:
    """Yields the parts of the page as reStructuredText."""
    commands = {**COMMANDS, **plugins.commands()}
    about, _, options = cli.ABOUT.partition("\n\n")
    yield from _titled("uncore", "=", above=True)
    yield from _titled(about.removesuffix("."), "-", above=True)
    yield f":Version: {__version__}\n:Manual section: 1\n"
    yield from _titled("Synopsis", "=")
    yield "**uncore** *COMMAND* [*WORDS*]\n\n**uncore** *COMMAND* **--help**\n"
    yield from _titled("Description", "=")
    for text in (options, cli._column_help(()), cli.FIRST_STEPS):
        yield text.replace("`", "``") + "\n"
    yield from _listed(commands)
    yield from _titled("Commands", "=")
    yield _explained(commands)
    yield from _titled("Exit status", "=")
    for status, meaning in STATUS.findall((ROOT / "docs/cli.md").read_text()):
        yield f"{status}\n    {_plain(meaning)}\n"


def _titled(text: str, underline: str, *, above: bool = False) -> Iterator[str]:
    line = underline * len(text)
    yield f"{line}\n{text}\n{line}\n" if above else f"{text}\n{line}\n"


def _listed(commands: Commands) -> Iterator[str]:
    """Yields the commands, grouped by purpose like in `uncore --help`."""
    tasks = [*plugins.Task]
    sorted_ = sorted(commands.items(), key=lambda command: tasks.index(command[1].task))
    for task, group in groupby(sorted_, key=lambda command: command[1].task):
        yield f"**{task}**\n"
        yield from (f"{name}\n    {_paragraph(command.about)}\n" for name, command in group)


def _explained(commands: Commands) -> str:
    """Returns the usage, options and columns of each command."""
    text = cli._app([]).generate_docs(output_format="rst", heading_level=1)
    _, *pieces = SECTION.split(text)
    sections = zip(pieces[::3], pieces[2::3], strict=True)
    return "\n".join(f"{_head(name)}{body}{_columns(commands[name])}" for name, body in sections)


def _head(name: str) -> str:
    (head,) = _titled(f"uncore {name}", "-")
    return head


def _columns(command: Command) -> str:
    columns = [
        f"``{column.head}``\n    {_plain(column.about)}\n"
        for column in cli._explained_columns(command.tables)
    ]
    return "\n".join(["\n**Columns:**\n", *columns]) if columns else ""


def _paragraph(text: str) -> str:
    return _plain(text.partition("\n\n")[0])


def _plain(text: str) -> str:
    """Returns the text with its special characters escaped for reStructuredText."""
    return SPECIAL.sub(r"\\\1", text)


if __name__ == "__main__":
    write_whole(FILE, page())
    print(FILE)
