"""Computes digests of the model's rules and protocol tables, which identify the model with which a
comparison was made.

    parts() -> {"C9": digest, "client.table": digest, ..}     digests of this checkout
    state(parts) -> digest of all parts
    changed(before, now) -> [part]                            in the order of docs/model.md

The digest of a rule is that of its text in docs/model.md; line breaks do not count.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from uncore.errors import UserError
from uncore.support.paths import CHECKOUT, PACKAGE

RULE_HEAD = r"^ *\* \*\*"
RULE_PATTERN = re.compile(
    rf"{RULE_HEAD}([A-Z]\d+(?:\.\d+)?)\.\*\*(.*?)(?={RULE_HEAD}[A-Z]\d|^#|\Z)", re.M | re.S
)
DIGEST_DIGITS = 8

Parts = Mapping[str, str]


def parts(page: Path | None = None, tables: Path | None = None) -> Parts:
    if not (page or CHECKOUT):
        raise UserError("crosscheck --all: expected a checkout, of which docs/model.md is a part")
    page = page or (CHECKOUT or Path()) / "docs/model.md"
    rules = {name: _digest(words) for name, words in RULE_PATTERN.findall(page.read_text())}
    files = sorted((tables or PACKAGE / "protocol").glob("*.table"))
    return rules | {path.name: _digest(path.read_text()) for path in files}


def state(parts: Parts) -> str:
    return _digest(" ".join(f"{name}={digest}" for name, digest in parts.items()))


def changed(before: Parts, now: Parts) -> list[str]:
    """Returns the parts whose digests differ, and the parts that only one of the two has."""
    return [name for name in {**now, **before} if before.get(name) != now.get(name)]


def _digest(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:DIGEST_DIGITS]
