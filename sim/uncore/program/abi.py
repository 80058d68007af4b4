"""Reads the constants and structures that guests and engines share from include/uncore_abi.h.

CONSTANTS["UC_BLOCK"]      every numeric #define, by name
FIELDS["uc_record"]        the fields of every structure in order, each one 64-bit word
MAGIC                      the first eight bytes of a boot block
unpack("uc_table", words)  a structure's bytes as {field: number}
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from uncore.support import paths

_HEADER = re.sub(r"//.*", "", (paths.WORKLOADS / "include/uncore_abi.h").read_text())

WORD_BYTES = 8
CONSTANTS: Mapping[str, int] = {
    name: int(value, 0)
    for name, value in re.findall(r"^#define (UC_\w+) (0x[0-9a-f]+|\d+)\b", _HEADER, re.MULTILINE)
}
FIELDS: Mapping[str, tuple[str, ...]] = {
    name: tuple(re.findall(r"(\w+)(?:\[8\])?;", body))
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", _HEADER, re.MULTILINE | re.DOTALL)
}
_text = re.search(r'#define UC_MAGIC "(\w+)"', _HEADER)
assert _text, "uncore_abi.h defines UC_MAGIC"
MAGIC = _text[1].encode() + b"\0"


def size(structure: str) -> int:
    """Returns the number of bytes of a structure."""
    return WORD_BYTES * len(FIELDS[structure])


def unpack(structure: str, words: bytes) -> dict[str, int]:
    """Decodes the fields of a structure from its bytes."""
    names = FIELDS[structure]
    return dict(zip(names, struct.unpack(f"<{len(names)}Q", words[: size(structure)]), strict=True))


def pack(value: int) -> bytes:
    """Encodes one word, with negative numbers in two's complement."""
    return struct.pack("<Q", value & (1 << 64) - 1)
