"""Does our fast reader of DWARF find the same variables and languages as pyelftools?"""

from __future__ import annotations

from typing import Any

import pytest
from tests.linux.programs import program

from uncore.program import Program, dwarf, find
from uncore.program.debug_info import DebugInfo

DW_OP_ADDR = 3  # opcode of a location that is a fixed address
PROGRAMS = [find("lock/mcs"), program("bank")]


def language(unit: Any) -> int:
    return getattr(unit.get_top_DIE().attributes.get("DW_AT_language"), "value", 0)


@pytest.mark.parametrize("guest", PROGRAMS, ids=["workload", "linux"])
def test_languages_and_variables_agree_with_pyelftools(guest: Program) -> None:
    info, units = DebugInfo.of(guest.data), dwarf.units(guest.data)[1]
    assert info and units
    assert info.languages() == {unit.cu_offset: language(unit) for unit in units}
    num_variables = 0
    for unit in units:
        walked = [e for e in dwarf.variables(unit.get_top_DIE()) if has_fixed_address(e)]
        assert [e.offset for e in dwarf.statics(guest.data, unit)] == [e.offset for e in walked]
        num_variables += len(walked)
    assert num_variables > 1


def has_fixed_address(entry: Any) -> bool:
    location = entry.attributes.get("DW_AT_location")
    return (
        location is not None
        and location.form == "DW_FORM_exprloc"
        and location.value[:1] == [DW_OP_ADDR]
    )


def test_compilation_units_of_excluded_languages_are_not_read() -> None:
    guest = program("bank")
    (only_language,) = {language(unit) for unit in dwarf.units(guest.data)[1]}
    assert dwarf.units(guest.data, (only_language,))[1] == []
    assert len(dwarf.units(guest.data, (dwarf.GO,))[1]) == len(dwarf.units(guest.data)[1])


def test_damaged_debug_information_does_not_stop_a_run() -> None:
    """The abbreviations are overwritten by a constant byte, so no DWARF entry can be decoded."""
    guest = program("bank")
    info = DebugInfo.of(guest.data)
    assert info and guest.variables
    for byte in (b"\0", b"\1", b"\xff"):
        spoiled = guest.data.replace(info.abbreviations, byte * len(info.abbreviations))
        damaged = Program("bank", guest.path, spoiled)
        assert spoiled != guest.data and damaged.variables == [] and damaged.compiled == []
