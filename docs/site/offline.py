"""A hook of MkDocs that removes scripts and styles of other servers from pages.

Material's offline search loads a worker shim from a public server; mkdocs.yml loads our own
(searches.js) instead.
"""

from __future__ import annotations

import re
from typing import Any

ELSEWHERE = re.compile(r'<(script|link)\b[^>]*(?:src|href)="https?://[^"]*"[^>]*>(?:</script>)?')


def on_post_page(output: str, **_: Any) -> str:
    return ELSEWHERE.sub("", output)
