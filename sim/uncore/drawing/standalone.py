"""Makes self-contained pages: plots, reports, steppers, lessons, the playground.

    page(title, body, style="", script="", ...) -> str
    data(value), packed(value)                    encode a value for the script of a page
    filled("<b>@NAME@</b>", NAME="x") -> str      replaces marks; unknown marks stay
    shared("sorted.js") -> str                    returns a script that several pages use
    figure_html(svg, label) -> str                shows a picture by plot.py in the page's colours

Every HTML file that uncore writes is made by `page`.  Its content security policy forbids every
request and allows only the scripts given here, by their digests.  So a mistake here, or a hostile
name in a user's file, causes an error on the page but leaks nothing.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DIGEST_PATTERN = re.compile("'sha256-[^']+'")


def page(
    title: str,
    body: str,
    style: str = "",
    script: str = "",
    libraries: Sequence[str] = (),
    inner: str = "",
    runs: str = "",
    allowed: str = "",
) -> str:
    """Makes a page. `title` is text, `body` is HTML; a button with id `theme` switches to dark.

    `libraries` are scripts that run before `script`; `inner` is a page that this page shows in a
    frame. `runs` adds sources of scripts to the security policy, and `allowed` adds other rules.
    """
    scripts = [*libraries]
    if script:
        theme = shared("theme.js") if 'id="theme"' in body else ""
        unpacks = shared("packed.js") if "unpacked" in script else ""
        scripts.append(f"\n'use strict';\n(async () => {{\n{theme}{unpacks}{script}}})();\n")
    sources = [*map(_digest, scripts), *DIGEST_PATTERN.findall(inner), *runs.split()]
    policy = f"; script-src {' '.join(sources)}" if sources else ""
    return filled(
        shared("standalone.html"),
        ALLOWED=policy + allowed,
        TITLE=escape(title),
        STYLE=f"<style>\n{shared('standalone.css')}{style}</style>",
        BODY=body + "".join(f"<script>{text}</script>" for text in scripts),
    )


def _digest(script: str) -> str:
    """Returns the entry of the security policy that allows this script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def filled(text: str, **values: str) -> str:
    return re.sub("@([A-Z]+)@", lambda match: values.get(match[1], match[0]), text)


def data(value: Any) -> str:
    """Returns JSON that is safe within the HTML of a page."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def packed(value: Any) -> str:
    """Returns JSON, compressed and in base 64; the page's script reads it by `unpackedValue`."""
    return letters(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def letters(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def figure_html(svg: str, label: str) -> str:
    named = f'<svg role="img" aria-label="{escape(label)}"'
    return f'<figure class="drawn">{svg[svg.index("<svg") :].replace("<svg", named, 1)}</figure>'


def shared(name: str) -> str:
    return (HERE / name).read_text()
