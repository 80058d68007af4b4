"""How wide what is printed may be: the terminal, or $COLUMNS, or where it is piped 100.

room(terminal)      in characters
wide                set by the option --wide: tables are as wide as they need to be
"""

from __future__ import annotations

import os
from contextvars import ContextVar

PIPED = 100

wide: ContextVar[bool] = ContextVar("wide", default=False)


def room(terminal: int) -> int:
    """`terminal`: its width, 0 where there is none."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else terminal or PIPED
