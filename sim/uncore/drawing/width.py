"""The width of printed text: the terminal's, or $COLUMNS, or 100 if the output is piped.

room(terminal)      in characters
wide                True by the option --wide: tables are as wide as they need to be
"""

from __future__ import annotations

import os
from contextvars import ContextVar

PIPED_WIDTH = 100

wide: ContextVar[bool] = ContextVar("wide", default=False)


def room(terminal: int) -> int:
    """Returns the width to use; `terminal` is the terminal's width, 0 if there is none."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else terminal or PIPED_WIDTH
