"""A hook of MkDocs: nothing that is elsewhere is asked for.

Material's offline search would ask a public server for a shim of workers; mkdocs.yml names one of
ours in its place (searches.js).
"""

from __future__ import annotations

import re
from typing import Any

ELSEWHERE = re.compile(r'<(script|link)\b[^>]*(?:src|href)="https?://[^"]*"[^>]*>(?:</script>)?')


def on_post_page(output: str, **_: Any) -> str:
    return ELSEWHERE.sub("", output)
