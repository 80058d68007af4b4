"""The uncore command: parses the command line and calls the command.

Exit status: 0 success, 1 a check or bound failed, 2 the user's mistake, 3 another simulator
failed, 130 interrupted after the finished part was written.  The commands are in
`uncore.cli.commands` and in other packages (`uncore.support.plugins`).
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from cyclopts import (
    UNSET,
    App,
    CycloptsError,
    Group,
    MissingArgumentError,
    Parameter,
    RepeatArgumentError,
    UnknownCommandError,
    UnusedCliTokensError,
)

from uncore.cli.commands import COMMANDS
from uncore.cli.options import show_unfinished
from uncore.cli.status import INTERRUPTED, MISTAKE, OK
from uncore.drawing import width
from uncore.errors import UncoreError, UserError, suggestion
from uncore.job.option_values import FORCE_FLAG, overwrites
from uncore.support import plugins
from uncore.support.plugins import Task
from uncore.support.printable import plain
from uncore.support.signals import interruptible
from uncore.support.version import __version__

if TYPE_CHECKING:
    from uncore.drawing.table import Column

ABOUT = """A cache-coherence and topology simulator.

`--force`, with any command, overwrites files that uncore has not written.
`--install-completion` has the shell complete commands and options."""
FIRST_STEPS = "`uncore demo`; then `uncore run ccx lock/ticket lock/mcs --threads 1..16`."
OTHER_NAMES = {  # names that people may try -> the command that they need
    "report": "run --report FILE.html, or any other command that has --report",
    "plot": "run --plot FILE.png, or any other command that has --plot",
    "simulate": "run",
    "bench": "run",
    "perf": "lines",
    "c2c": "lines --format c2c",
    "topology": "show",
    "latency": "matrix",
    "verify": "check",
    "kernel": "boot",
}
PAGE_HEAD = """# Commands and their options

`uncore COMMAND --help` prints each; [cli.md](cli.md) says what they mean together.
"""
WIDE_FLAG = "--wide"  # every command has this option
COMPLETION_FLAG = "--install-completion"
INPUT_FLAG = "--stdin"
# commands that also run Linux programs, whose arguments follow --
PROGRAM_COMMANDS = frozenset({"run", "sweep", "compare", "whatif", "fences"})
HELP_FLAGS = frozenset({"--help", "-h"})


def main(words: Sequence[str] | None = None) -> None:
    """Entry point: runs the command and exits with its status."""
    words = list(sys.argv[1:] if words is None else words)
    for option, switch in (WIDE_FLAG, width.wide), (FORCE_FLAG, overwrites):
        own_words = words[: words.index("--")] if "--" in words else words
        switch.set(option in own_words)
        words = [word for word in own_words if word != option] + words[len(own_words) :]
    words = _attach_dash(_convert_arguments(words))
    _escape_letters()
    try:
        with interruptible():
            _refuse_surrogates(words)
            status = _call(_app(words), words)
            sys.stdout.flush()
    except UncoreError as error:
        show_unfinished(error)
        status = _say(str(error), error.status)
    except CycloptsError as error:
        status = _say(_user_message(error), MISTAKE)
    except KeyboardInterrupt as stopped:
        show_unfinished(stopped)
        status = _say("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of the pipe has closed it
        sys.stderr.close()
        status = OK
    except OSError as error:  # standard output is full, or an error that no command handles
        status = _say(f"{error.filename or 'standard output'}: {error.strerror}", MISTAKE)
        _drop_output()
    sys.exit(status if isinstance(status, int) else OK)


def _call(app: App, words: list[str]) -> object:
    """Calls the command and returns its exit status. If an option that takes one value is repeated,
    its last value counts.
    """
    try:
        return app(words, exit_on_error=False, print_error=False, result_action="return_value")
    except RepeatArgumentError as error:
        option, flag = error.token.keyword, error.token.implicit_value is not UNSET
        positions = [
            position for position, word in enumerate(words) if word.partition("=")[0] == option
        ]
        if len(positions) == 1:  # given once by each of two names: no earlier value to drop
            raise
        first, *_ = positions
        next_word = first + (1 if flag or "=" in words[first] else 2)
        return _call(app, words[:first] + words[next_word:])


def _convert_arguments(words: list[str]) -> list[str]:
    """Converts the words after --, which are the program's arguments, into --argument options."""
    if not PROGRAM_COMMANDS.issuperset(words[:1]) or "--" not in words:
        return words
    separator = words.index("--")
    return [*words[:separator], *(f"--argument={word}" for word in words[separator + 1 :])]


def _attach_dash(words: list[str]) -> list[str]:
    """Writes `--stdin -` as `--stdin=-`, because cyclopts takes a single - for an option."""
    attached: list[str] = []
    for word in words:
        if word == "-" and attached[-1:] == [INPUT_FLAG]:
            attached[-1] += "=-"
        else:
            attached.append(word)
    return attached


def _refuse_surrogates(words: list[str]) -> None:
    """Refuses words that are not UTF-8, because names appear in results and pictures, which are
    text.
    """
    for word in words:
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise UserError(f"{word}: not UTF-8; give the file a name that is")


def _say(text: str, status: int) -> int:
    print(f"uncore: {plain(text)}", file=sys.stderr)
    return status


def _drop_output() -> None:
    """Discards buffered output, which would fail again when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _escape_letters() -> None:
    """Makes the output streams escape letters that their encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _app(words: list[str]) -> App:
    """Makes the application.

    Other packages' commands are added only if the first word is no command of uncore, because
    finding them takes a tenth of the start-up time of `uncore run`.
    """
    app = App(
        name="uncore",
        help=ABOUT,
        version=__version__,
        group_commands=Group("Else", sort_key=99),
        default_parameter=Parameter(show_default=_default_text),
    )
    plugin_commands = {} if words and words[0] in COMMANDS else plugins.commands()
    tasks = {task: Group(task, sort_key=place) for place, task in enumerate(Task)}
    tasks[Task.START] = Group(Task.START, help=FIRST_STEPS, sort_key=-1)
    for place, (name, command) in enumerate({**COMMANDS, **plugin_commands}.items()):
        needs_help = words[:1] == [name] and not HELP_FLAGS.isdisjoint(words)
        app.command(
            command.path,
            name=name,
            group=tasks[command.task],
            sort_key=place,
            help=command.about,
            help_epilogue=_column_help(command.tables) if needs_help else None,
        )
    if words[:1] == [COMPLETION_FLAG]:
        app.register_install_completion_command(COMPLETION_FLAG)
    return app


def _default_text(default: object) -> str | None:
    """Returns the text of a default value for --help, or None for an empty default."""
    return None if default is False or default in (None, "", [], ()) else str(default)


def document() -> str:
    """Returns every command's options and columns, as a page of the site."""
    pages = _app([]).generate_docs(output_format="markdown").replace("# uncore\n", PAGE_HEAD, 1)
    first, *sections = pages.split("\n## uncore ")
    commands = {**COMMANDS, **plugins.commands()}
    for number, section in enumerate(sections):
        tables = commands[section.partition("\n")[0]].tables
        sections[number] = (
            section.rstrip() + (f"\n\n{_column_help(tables)}" if tables else "") + "\n"
        )
    return "\n## uncore ".join([first, *sections])


def _column_help(tables: Sequence[str]) -> str:
    """Returns explanations of a command's columns, as Markdown."""
    explanations = [f"* `{column.head}`: {column.about}" for column in _explained_columns(tables)]
    wide = f"`{WIDE_FLAG}` prints every column of a table, however long its lines get."
    return "\n".join(["Columns:\n", *explanations, "", wide]) if explanations else wide


def _explained_columns(paths: Sequence[str]) -> Iterator[Column]:
    """Yields the columns that have an explanation; imports their modules only now."""
    for path in paths:
        module, _, name = path.partition(":")
        yield from (column for column in getattr(import_module(module), name) if column.about)


def _user_message(error: CycloptsError) -> str:
    """Returns the user's message for an error of the command-line library."""
    command = " ".join(("uncore", *(error.command_chain or ())))
    if isinstance(error, UnknownCommandError) and error.unused_tokens:
        word, commands = error.unused_tokens[0], {**COMMANDS, **plugins.commands()}
        if word in OTHER_NAMES:
            return f"there is no command '{word}'; that is uncore {OTHER_NAMES[word]}"
        return f"there is no command '{word}'.{suggestion(word, commands)} See uncore --help"
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return f"{command} takes no '{error.unused_tokens[0]}' here; see {command} --help"
    if isinstance(error, MissingArgumentError) and error.argument and not error.keyword:
        argument = error.argument
        name = argument.name if argument.index is None else argument.name.removeprefix("--").upper()
        return f"{command} needs {name}; see {command} --help"
    return str(error)


if __name__ == "__main__":
    print(document(), end="")
