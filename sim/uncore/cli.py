"""The uncore command: words in, tables and pictures out.

Exit status: 0 ok, 1 a check or bound failed, 2 the user's mistake, 3 an outside simulator failed,
130 interrupted with the finished part written.  The commands are in `uncore.commands`, and in other
packages that add some (`uncore.plugins`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnusedCliTokensError,
)

from uncore import plugins
from uncore.commands import COMMANDS, heads
from uncore.commands.status import INTERRUPTED, MISTAKE, OK
from uncore.errors import UncoreError, nearest
from uncore.report import width
from uncore.signals import interruptible
from uncore.version import __version__

ABOUT = """A cache-coherence and topology simulator.

`--install-completion` has the shell complete commands and options."""
PAGE = """# Commands and their options

This page is written by `python -m uncore.cli`; [cli.md](cli.md) says what they mean together.
"""
WIDE = "--wide"  # of every command
COMPLETION = "--install-completion"
HELP = frozenset({"--help", "-h"})


def main(words: Sequence[str] | None = None) -> None:
    """Entry point: runs the command and exits with its status."""
    words = list(sys.argv[1:] if words is None else words)
    width.wide.set(WIDE in words)
    words = [word for word in words if word != WIDE]
    try:
        with interruptible():
            status = _app(words)(
                words, exit_on_error=False, print_error=False, result_action="return_value"
            )
    except UncoreError as error:
        print(f"uncore: {error}", file=sys.stderr)
        status = error.status
    except CycloptsError as error:
        print(f"uncore: {_worded(error)}", file=sys.stderr)
        status = MISTAKE
    except KeyboardInterrupt:
        print("uncore: interrupted", file=sys.stderr)
        status = INTERRUPTED
    except BrokenPipeError:  # the reader of the pipe has seen enough
        sys.stderr.close()
        status = OK
    sys.exit(status if isinstance(status, int) else OK)


def _app(words: list[str]) -> App:
    """Other packages' commands are looked up unless the first word is one of ours: that takes a
    tenth of the time in which `uncore run` starts."""
    app = App(name="uncore", help=ABOUT, version=__version__)
    others = {} if words and words[0] in COMMANDS else plugins.commands()
    for name, (path, about, *tables) in {**COMMANDS, **others}.items():
        asked = words[:1] == [name] and not HELP.isdisjoint(words)
        app.command(path, name=name, help=about, help_epilogue=_heads(tables) if asked else None)
    if words[:1] == [COMPLETION]:
        app.register_install_completion_command(COMPLETION)
    return app


def document() -> str:
    """docs/commands.md:  python -m uncore.cli > docs/commands.md"""
    pages = _app([]).generate_docs(output_format="markdown").replace("# uncore\n", PAGE, 1)
    first, *sections = pages.split("\n## uncore ")
    known = {**COMMANDS, **plugins.commands()}
    for number, section in enumerate(sections):
        _, _, *tables = known[section.partition("\n")[0]]
        sections[number] = section.rstrip() + (f"\n\n{_heads(tables)}" if tables else "") + "\n"
    return "\n## uncore ".join([first, *sections])


def _heads(tables: list[str]) -> str:
    """What the command's columns mean."""
    explained = [f"* `{column.head}`: {column.about}" for column in heads.explained(tables)]
    wide = f"`{WIDE}`: columns that do not fit stand beside the others all the same."
    return "\n".join(["Columns:\n", *explained, "", wide]) if explained else wide


def _worded(error: CycloptsError) -> str:
    """What the library finds wrong with the words, said to the user who wrote them."""
    command = " ".join(("uncore", *(error.command_chain or ())))
    if isinstance(error, UnknownCommandError) and error.unused_tokens:
        word, known = error.unused_tokens[0], {**COMMANDS, **plugins.commands()}
        return f"there is no command '{word}'.{nearest(word, known)} See uncore --help"
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return f"{command} takes no '{error.unused_tokens[0]}' here; see {command} --help"
    if isinstance(error, MissingArgumentError) and error.argument and not error.keyword:
        what = error.argument
        name = what.name if what.index is None else what.name.removeprefix("--").upper()
        return f"{command} needs {name}; see {command} --help"
    return str(error)


if __name__ == "__main__":
    print(document(), end="")
