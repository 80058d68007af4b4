"""A page that is one file and asks nobody for anything: what reports, steppers, lessons and the
playground share.

    page(title, body, style="", script="", allowed="") -> str
    filled("<b>@NAME@</b>", NAME="x") -> str      what is not named stays a place
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
    """With a script, which finds a button `theme`; `allowed` adds to what the policy allows."""
    if script:
        script = f"<script>\n'use strict';\n(() => {{\n{_text('theme.js')}{script}}})();\n</script>"
    return filled(
        _text("standalone.html"),
        ALLOWED=(allowed or SCRIPTS) if script else allowed,
        TITLE=title,
        STYLE=f"<style>\n{_text('standalone.css')}{style}</style>",
        BODY=body + script,
    )


def filled(text: str, **places: str) -> str:
    return re.sub("@([A-Z]+)@", lambda match: places.get(match[1], match[0]), text)


def data(value: Any) -> str:
    """JSON that may stand within a page."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def drawn(svg: str, label: str) -> str:
    named = f'<svg role="img" aria-label="{escape(label)}"'
    return f'<figure class="drawn">{svg[svg.index("<svg") :].replace("<svg", named, 1)}</figure>'


def _text(name: str) -> str:
    return (HERE / name).read_text()
