"""A hook of MkDocs, which removes scripts and styles of other servers from pages.

The offline search of Material loads a shim from a public server; mkdocs.yml loads searches.js
instead.
"""

from __future__ import annotations

import re
from typing import Any

EXTERNAL_RESOURCE = re.compile(
    r'<(script|link)\b[^>]*(?:src|href)="https?://[^"]*"[^>]*>(?:</script>)?'
)


def on_post_page(output: str, **_: Any) -> str:
    return EXTERNAL_RESOURCE.sub("", output)
