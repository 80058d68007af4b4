"""Kinds of files that uncore writes, and the marks by which it recognizes its own files.

    RESULT.endings                    (".json", ".parquet")
    RESULT.has_written(path)          True if the file has the mark of a result, or is empty

Files that a person may have edited (a machine file, a measured matrix) have no mark.  An empty file
may be overwritten, because `mktemp` creates one.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

MAKER = "uncore"  # the maker's name in pictures and pages

_PAGE_PATTERN = re.compile(rb'\A.{0,300}<meta name="generator" content="uncore">', re.DOTALL)


def _json(schema: str) -> re.Pattern[bytes]:
    return re.compile(rb'\A\s*\{\s*"schema":\s*"' + re.escape(schema).encode() + rb"s?/")


def _parquet(key: str) -> re.Pattern[bytes]:
    """Matches a key in Parquet's metadata: Thrift's compact protocol writes type, length, key,
    type.
    """
    return re.compile(b"\x18" + bytes([len(key)]) + re.escape(key).encode() + b"\x18")


class OutputKind(NamedTuple):
    name: str
    # ending of the name -> pattern of the mark in the content; "" stands for any ending
    marks: Mapping[str, re.Pattern[bytes] | None]

    @property
    def endings(self) -> tuple[str, ...]:
        return tuple(self.marks)

    def has_written(self, path: Path) -> bool:
        mark = self.marks.get(path.suffix, self.marks.get(""))
        try:
            with open(path, "rb") as file:
                if not file.seek(0, 2):
                    return True
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    return bool(mark and mark.search(content))
        except (OSError, ValueError):
            return False


# metadata keys of Parquet files
LOG_KEY, RESULT_KEY, TRACE_KEY = "uncore.log", "uncore.result", "uncore.trace"

RESULT = OutputKind(
    "a result of uncore", {".json": _json(RESULT_KEY), ".parquet": _parquet(RESULT_KEY)}
)
LOG = OutputKind("a transaction log of uncore", {".parquet": _parquet(LOG_KEY)})
TRACE = OutputKind(
    "a trace of uncore",
    {
        ".parquet": _parquet(TRACE_KEY),
        ".pftrace": re.compile(rb"\A\n.{1,9}\x12\x05harts\n.{1,9}\x12\x05lines\n", re.DOTALL),
    },
)
PAGE = OutputKind("a page by uncore", {".html": _PAGE_PATTERN})
PICTURE = OutputKind(
    "a picture by uncore",
    {
        ".png": re.compile(rb"tEXtSoftware\x00uncore"),
        ".svg": re.compile(rb"<dc:title>uncore</dc:title>|<metadata>uncore</metadata>"),
        ".pdf": re.compile(rb"/Creator \(uncore\)"),
        ".html": _PAGE_PATTERN,
    },
)
DIAGRAM = OutputKind("a diagram by uncore", {".svg": PICTURE.marks[".svg"]})
HWLOC = OutputKind(
    "hwloc's XML by uncore", {".xml": re.compile(rb'<info name="Backend" value="uncore"')}
)
STATE = OutputKind("a saved run of uncore", {"": re.compile(rb"\Auncore\.state/")})
MACHINE = OutputKind("a machine file", {".toml": None})
TABLE = OutputKind("a table", {".csv": None})
MEASUREMENT = OutputKind("a measurement", {".json": None})
