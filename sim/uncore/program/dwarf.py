"""Loads the debug information of a guest on demand: source positions and the types of variables.

    units(data) -> (dwarf, its compilation units)           (None, []) without debug information
    units(elf_bytes, (GO, RUST))                            without units in these languages
    source(unit) -> "/home/me/queue.c"
    statics(data, unit)                                     entries of variables at a fixed address

Damaged information raises any exception of pyelftools. Callers then work without the information,
because it must not stop a run.  pyelftools is imported only here, at its first use, because most
runs do not need it.
"""

from __future__ import annotations

import io
import posixpath
from collections.abc import Collection, Iterator
from typing import Any

from uncore.program.debug_info import DAMAGE_ERRORS, DebugInfo

GO, RUST = 0x16, 0x1C  # DW_LANG_...


def units(data: bytes, without: Collection[int] = ()) -> tuple[Any, list[Any]]:
    unit_offsets = _units_in_other_languages(data, without) if without else None
    if unit_offsets == []:
        return None, []
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 (slow to load)

    from uncore.program.abbreviations import read_on_demand  # noqa: PLC0415

    file = ELFFile(io.BytesIO(data))
    if not file.has_dwarf_info():
        return None, []
    dwarf = file.get_dwarf_info()
    read_on_demand(dwarf)
    if unit_offsets:
        return dwarf, [dwarf.get_CU_at(offset) for offset in unit_offsets]
    all_ = dwarf.iter_CUs()
    return dwarf, [unit for unit in all_ if not without or _language(unit) not in without]


def statics(data: bytes, unit: Any) -> Iterator[Any]:
    """Yields the entries of a unit's variables with a fixed address, including static variables of
    functions.
    """
    info = DebugInfo.of(data)
    try:
        offsets = [*info.statics(unit.cu_offset)] if info else None
    except DAMAGE_ERRORS:
        offsets = None
    if offsets is None:
        yield from variables(unit.get_top_DIE())
    else:
        yield from map(unit.get_DIE_from_refaddr, offsets)


def variables(parent: Any) -> Iterator[Any]:
    """Yields variables of a unit or function, and of the functions in it."""
    for entry in parent.iter_children():
        if entry.tag == "DW_TAG_subprogram":
            yield from variables(entry)
        elif entry.tag == "DW_TAG_variable":
            yield entry


def _units_in_other_languages(data: bytes, languages: Collection[int]) -> list[int] | None:
    """Returns offsets of units in other languages; None if pyelftools has to find them."""
    try:
        info = DebugInfo.of(data)
        language_of = info.languages().items() if info else None
    except DAMAGE_ERRORS:
        return None
    return (
        None
        if language_of is None
        else [offset for offset, language in language_of if language not in languages]
    )


def source(unit: Any) -> str:
    """Returns the file that was compiled; "" if the unit does not state it."""
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
