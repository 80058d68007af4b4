"""A hook of MkDocs: the theme's one request is taken out.

Material's offline search asks a public server for a shim of workers where the page is a file; the
search then works in a served copy, and nothing is asked of anybody in either.
"""

from __future__ import annotations

import re
from typing import Any

ELSEWHERE = re.compile(r'<(script|link)\b[^>]*(?:src|href)="https?://[^"]*"[^>]*>(?:</script>)?')


def on_post_page(output: str, **_: Any) -> str:
    return ELSEWHERE.sub("", output)
