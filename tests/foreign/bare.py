"""Runs bare-metal programs that end by writing `tohost`, as those of RISC-V's own suites do.

ended(path) -> "passed", or the failure

If a file of the same name with the suffix `.reference_output` is in the folder of the program, or
in its subfolder `references`, the words of the program's signature are compared as well.
"""

from __future__ import annotations

from pathlib import Path

from elftools.elf.elffile import ELFFile
from uncore._doubles import FlatMachine

PASSED = "passed"
TLB = 16  # entries of the TLB, which also serves programs in supervisor mode
LOOK_INSTRUCTIONS, MAX_PROGRAM_INSTRUCTIONS = 20_000, 10_000_000


def ended(path: Path) -> str:
    with path.open("rb") as file:
        elf = ELFFile(file)
        parts = [(s["p_paddr"], s.data()) for s in elf.iter_segments("PT_LOAD") if s["p_filesz"]]
        entry = elf["e_entry"]
        symbols = {s.name: s["st_value"] for s in elf.get_section_by_name(".symtab").iter_symbols()}
    machine = FlatMachine(parts, entry, ram_size=16 << 20, tlb=TLB)
    for _ in range(0, MAX_PROGRAM_INSTRUCTIONS, LOOK_INSTRUCTIONS):
        end = machine.run(LOOK_INSTRUCTIONS)
        tohost = int.from_bytes(machine.read(symbols["tohost"], 8), "little")
        if tohost > 1:
            return f"test {tohost >> 1}"
        if tohost:
            return _signature(path, machine.read, symbols)
        if end != "time":
            return f"{end} by cause {machine.fatal()[0]}" if end == "fatal" else end
    return f"not ended after {MAX_PROGRAM_INSTRUCTIONS} instructions"


def _signature(path: Path, read: object, symbols: dict[str, int]) -> str:
    name = f"{path.name.removesuffix('.elf')}.reference_output"
    for reference in (path.with_name(name), path.parent / "references" / name):
        if reference.is_file():
            break
    else:
        return PASSED
    begin, end = symbols["begin_signature"], symbols["end_signature"]
    data: bytes = read(begin, end - begin)  # type: ignore[operator]
    ours = [f"{int.from_bytes(data[i : i + 4], 'little'):08x}" for i in range(0, len(data), 4)]
    expected = reference.read_text().split()
    if len(ours) < len(expected):
        return f"a signature of {len(ours)} words, not {len(expected)}"
    different = [n for n, word in enumerate(expected) if ours[n] != word]
    return f"word {different[0]} of the signature" if different else PASSED
