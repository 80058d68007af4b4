"""Bare guests for the ISA tests. They assemble text into an ELF, or boot it on a flat machine.

    assemble(text, path)       -> Image: the bytes of the text and the addresses of its labels
    machine(text, path, ...)   -> a FlatMachine with the program in it; keywords as FlatMachine's

Invariant: a program starts at BASE with its first line.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from uncore._doubles import FlatMachine

BASE = 0x80000000
CANONICAL = "generic_rv64+m+a+zicsr+zifencei"
G = CANONICAL + "+f+d+zba+zbb+zbs"
EVERYTHING = G + "+c+zacas+zabha"

LINK = f"""
ENTRY(start)
SECTIONS {{
  . = {BASE:#x};
  .text : {{ KEEP(*(.text*)) *(.rodata* .srodata*) *(.data* .sdata*) *(.bss* .sbss*) }}
  /DISCARD/ : {{ *(.eh_frame*) }}
}}
"""

# Assembler macros that replace a C library in the tests.
MACROS = """
.macro semihost
    .option push
    .option norvc
    .balign 16
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    .option pop
.endm
.macro exit code
    li a0, 0x20
    la a1, exit_block
    li t0, \\code
    sd t0, 8(a1)
    semihost
.endm
.macro pause_
    .word 0x0100000f
.endm
.globl start
start:
"""
TAIL = """
.balign 16
exit_block: .dword 0x20026, 0
"""


@dataclass(frozen=True)
class Image:
    path: Path
    text: bytes
    labels: dict[str, int]


def assemble(
    text: str,
    folder: Path,
    cpu: str = EVERYTHING,
    abi: str = "lp64",
    more: Sequence[str] = (),
) -> Image:
    """Assembles a program. `more` has further options and sources for the compiler."""
    source, script, elf = folder / "guest.S", folder / "link.ld", folder / "guest.elf"
    source.write_text(MACROS + text + TAIL)
    script.write_text(LINK)
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "riscv64-freestanding-none"]
    command += [f"-mcpu={cpu}", f"-mabi={abi}", "-nostdlib", "-static"]
    command += ["-T", str(script), str(source), *more, "-o", str(elf)]
    compilation = subprocess.run(command, capture_output=True, text=True)
    assert compilation.returncode == 0, compilation.stderr
    with elf.open("rb") as file:
        parsed = ELFFile(file)
        sections: dict[str, Any] = {section.name: section for section in parsed.iter_sections()}
        labels = {symbol.name: symbol["st_value"] for symbol in sections[".symtab"].iter_symbols()}
        return Image(elf, sections[".text"].data(), labels)


def boot(image: Image, **options: Any) -> FlatMachine:
    return FlatMachine([(BASE, image.text)], BASE, **options)


def machine(text: str, folder: Path, **options: Any) -> FlatMachine:
    return boot(assemble(text, folder), **options)
