"""Do workloads use only instructions and structures that every engine supports?"""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from uncore.program import Program, abi, build, find, shipped
from uncore.support import paths

NAMES = sorted(
    path.relative_to(paths.WORKLOADS).with_suffix("").as_posix()
    for path in paths.WORKLOADS.glob("*/*.c")
    if path.parent.name != "runtime"
)

OPCODES = {
    0x03: "load",
    0x0F: "fence",
    0x13: "op-imm",
    0x17: "auipc",
    0x1B: "op-imm-32",
    0x23: "store",
    0x2F: "amo",
    0x33: "op",
    0x37: "lui",
    0x3B: "op-32",
    0x63: "branch",
    0x67: "jalr",
    0x6F: "jal",
    0x73: "system",
}
# Values of funct5 that the A extension uses. Value 5 belongs to Zacas.
AMO_FUNCTIONS = {0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28}


def text_words(program: Program) -> list[int]:
    section = ELFFile(io.BytesIO(program.data)).get_section_by_name(".text")
    return memoryview(section.data()).cast("I").tolist()


def test_every_workload_is_shipped_with_a_summary_and_source_lines() -> None:
    assert [p.name for p in shipped()] == NAMES
    for program in shipped():
        assert 20 < len(program.summary) < 80
        assert program.source_line(program.entry) == "runtime/guest/start.S:" + str(start_line())
        code = program.segments[0]
        source_lines = {
            program.source_line(code.address + offset) for offset in range(0, len(code.data), 4)
        }
        assert any(line and line.startswith(f"{program.name}.c:") for line in source_lines)


def start_line() -> int:
    lines = (paths.WORKLOADS / "runtime/guest/start.S").read_text().splitlines()
    return lines.index("_start:") + 2


@pytest.mark.parametrize("name", NAMES)
def test_workloads_contain_only_rv64ima_zicsr_zifencei(name: str) -> None:
    for word in text_words(find(name)):
        assert word & 3 == 3, f"{word:#010x} is a compressed instruction"
        assert word & 0x7F in OPCODES, f"{word:#010x} is not RV64IMA"
        if word & 0x7F == 0x2F:
            assert word >> 12 & 7 in (2, 3), f"{word:#010x} is a sub-word or wide atomic"
            assert word >> 27 in AMO_FUNCTIONS, f"{word:#010x} is an atomic beyond the A extension"


def test_workload_compiled_in_another_folder_has_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "a/longer/path/than/the/other/workloads"
    shutil.copytree(paths.WORKLOADS, copied)
    monkeypatch.setattr(paths, "WORKLOADS", copied)
    monkeypatch.setattr(build, "ZIG_CACHE", tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    build.build(copied / "lock/mcs.c", tmp_path / "mcs.elf")
    assert (tmp_path / "mcs.elf").read_bytes() == find("lock/mcs").data


def test_python_and_c_agree_on_the_layout_of_structures() -> None:
    """Python reads the order of the fields from the header. It must be that of the compiled C."""
    dwarf = ELFFile(io.BytesIO(find("latency/pingpong").data)).get_dwarf_info()
    compiled: dict[str, tuple[str, ...]] = {}
    for unit in dwarf.iter_CUs():
        for entry in unit.iter_DIEs():
            name = entry.attributes.get("DW_AT_name")
            if entry.tag != "DW_TAG_structure_type" or not entry.has_children or not name:
                continue
            members = list(entry.iter_children())
            offsets = [m.attributes["DW_AT_data_member_location"].value for m in members]
            if offsets == [abi.WORD_BYTES * i for i in range(len(members))]:
                names = tuple(m.attributes["DW_AT_name"].value.decode() for m in members)
                compiled[name.value.decode()] = names
    assert abi.FIELDS.keys() == {"uc_boot", "uc_record", "uc_param", "uc_table"}
    for structure, fields in abi.FIELDS.items():
        assert compiled[structure] == fields
