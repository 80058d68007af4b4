"""A hook of MkDocs: pages request nothing from elsewhere.

Material's offline search would load a shim for workers from a public server; mkdocs.yml names one
of ours in its place (searches.js).
"""

from __future__ import annotations

import re
from typing import Any

ELSEWHERE = re.compile(r'<(script|link)\b[^>]*(?:src|href)="https?://[^"]*"[^>]*>(?:</script>)?')


def on_post_page(output: str, **_: Any) -> str:
    return ELSEWHERE.sub("", output)
