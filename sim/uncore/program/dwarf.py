"""The debug information of a guest, for those who ask: where a pc is in the source, what a byte is.

    units(elf_bytes) -> (dwarf, its compilation units)      none where there is no debug information
    units(elf_bytes, (GO, RUST))                            those of other languages
    source(unit) -> "/home/me/queue.c"
    statics(elf_bytes, unit)                                entries of variables at a fixed place

Damaged information raises whatever pyelftools raises; who asks answers without it, because it must
not stop a run.  pyelftools is loaded here alone, when it is first asked for: a run needs none.
"""

from __future__ import annotations

import io
import posixpath
from collections.abc import Collection, Iterator
from typing import Any

from uncore.program.debug_info import DAMAGED, DebugInfo

GO, RUST = 0x16, 0x1C  # DW_LANG_...


def units(data: bytes, without: Collection[int] = ()) -> tuple[Any, list[Any]]:
    wanted = _in_other(data, without) if without else None
    if wanted == []:
        return None, []
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 (slow to load)

    from uncore.program.abbreviations import read_as_asked  # noqa: PLC0415

    file = ELFFile(io.BytesIO(data))
    if not file.has_dwarf_info():
        return None, []
    dwarf = file.get_dwarf_info()
    read_as_asked(dwarf)
    if wanted:
        return dwarf, [dwarf.get_CU_at(at) for at in wanted]
    all_ = dwarf.iter_CUs()
    return dwarf, [unit for unit in all_ if not without or _language(unit) not in without]


def statics(data: bytes, unit: Any) -> Iterator[Any]:
    """The entries of its variables with a fixed address, those in functions too."""
    info = DebugInfo.of(data)
    try:
        places = [*info.statics(unit.cu_offset)] if info else None
    except DAMAGED:
        places = None
    if places is None:
        yield from variables(unit.get_top_DIE())
    else:
        yield from map(unit.get_DIE_from_refaddr, places)


def variables(parent: Any) -> Iterator[Any]:
    """Variables of a unit or function, and of the functions in it."""
    for entry in parent.iter_children():
        if entry.tag == "DW_TAG_subprogram":
            yield from variables(entry)
        elif entry.tag == "DW_TAG_variable":
            yield entry


def _in_other(data: bytes, languages: Collection[int]) -> list[int] | None:
    """Offsets of units in other languages; None if pyelftools has to look."""
    try:
        info = DebugInfo.of(data)
        of_each = info.languages().items() if info else None
    except DAMAGED:
        return None
    return None if of_each is None else [at for at, its in of_each if its not in languages]


def source(unit: Any) -> str:
    """The file that was compiled; empty where nothing says so."""
    attributes = unit.get_top_DIE().attributes
    folder, name = (
        attributes[which].value.decode() if which in attributes else ""
        for which in ("DW_AT_comp_dir", "DW_AT_name")
    )
    return posixpath.join(folder, name)


def _language(unit: Any) -> int:
    attribute = unit.get_top_DIE().attributes.get("DW_AT_language")
    language: int = attribute.value if attribute else 0
    return language
