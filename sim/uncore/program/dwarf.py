"""The debug information of a guest, for those who ask: where a pc is in the source, what a byte is.

    units(elf_bytes) -> (dwarf, its compilation units)      none where there is no debug information

Damaged information raises whatever pyelftools raises; who asks answers without it, because it must
not stop a run.  pyelftools is loaded here alone, when it is first asked for: a run needs none.
"""

from __future__ import annotations

import io
from typing import Any


def units(data: bytes) -> tuple[Any, list[Any]]:
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 (slow to load)

    from uncore.program.abbreviations import read_as_asked  # noqa: PLC0415

    file = ELFFile(io.BytesIO(data))
    if not file.has_dwarf_info():
        return None, []
    dwarf = file.get_dwarf_info()
    read_as_asked(dwarf)
    return dwarf, list(dwarf.iter_CUs())
