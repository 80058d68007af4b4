"""The width of printed text: $COLUMNS, or the terminal's width, or 100 if the output is piped.

text_width(terminal_width)  returns the width in characters
wide                        True with the option --wide: tables are as wide as they need to be
"""

from __future__ import annotations

import os
from contextvars import ContextVar

PIPED_WIDTH = 100

wide: ContextVar[bool] = ContextVar("wide", default=False)


def text_width(terminal_width: int) -> int:
    """Returns the width to use; `terminal_width` is 0 if there is no terminal."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else terminal_width or PIPED_WIDTH
