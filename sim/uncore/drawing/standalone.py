"""Pages that are one file and request nothing: reports, steppers, lessons, the playground.

    page(title, body, style="", script="", allowed="") -> str
    filled("<b>@NAME@</b>", NAME="x") -> str      other marks stay
    drawn(svg, label) -> str                      a picture by plot.py, in the page's own colours

The page's policy forbids every request, so that a mistake here is an error there and no leak.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCRIPTS = "; script-src 'unsafe-inline'"  # of the page itself


def page(title: str, body: str, style: str = "", script: str = "", allowed: str = "") -> str:
    """A page of `body`; its script finds a button `theme`; `allowed` extends the policy."""
    if script:
        script = f"<script>\n'use strict';\n(() => {{\n{_text('theme.js')}{script}}})();\n</script>"
    return filled(
        _text("standalone.html"),
        ALLOWED=(allowed or SCRIPTS) if script else allowed,
        TITLE=title,
        STYLE=f"<style>\n{_text('standalone.css')}{style}</style>",
        BODY=body + script,
    )


def filled(text: str, **values: str) -> str:
    return re.sub("@([A-Z]+)@", lambda match: values.get(match[1], match[0]), text)


def data(value: Any) -> str:
    """JSON that may stand within a page."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def drawn(svg: str, label: str) -> str:
    named = f'<svg role="img" aria-label="{escape(label)}"'
    return f'<figure class="drawn">{svg[svg.index("<svg") :].replace("<svg", named, 1)}</figure>'


def _text(name: str) -> str:
    return (HERE / name).read_text()
