"""The uncore command: words in, tables and pictures out.

Exit status: 0 ok, 1 a check or bound failed, 2 the user's mistake, 3 an outside simulator failed,
130 interrupted with the finished part written.  The commands are in `uncore.commands`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from cyclopts import CycloptsError, MissingArgumentError, UnusedCliTokensError

from uncore.commands import INTERRUPTED, MISTAKE, OK, app
from uncore.errors import UncoreError

# In the order in which `uncore --help` should be read; a module registers its commands with `app`.
for _module in ("machines", "simulate", "explain", "forecast", "trust", "measuring", "outside"):
    import_module(f"uncore.commands.{_module}")


def main(words: Sequence[str] | None = None) -> None:
    """Entry point: runs the command and exits with its status."""
    try:
        status = app(words, exit_on_error=False, print_error=False, result_action="return_value")
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


def _worded(error: CycloptsError) -> str:
    """What the library finds wrong with the words, told to who wrote them."""
    command = " ".join(("uncore", *(error.command_chain or ())))
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return f"{command} takes no '{error.unused_tokens[0]}' here; see {command} --help"
    if isinstance(error, MissingArgumentError) and error.argument and not error.keyword:
        what = error.argument
        name = what.name if what.index is None else what.name.removeprefix("--").upper()
        return f"{command} needs {name}; see {command} --help"
    return str(error)
