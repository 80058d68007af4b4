"""Reads a guest ELF into plain values, distrusting every byte of it.

    read(data, name) -> Elf       or UserError: truncated, not RISC-V, not ours, ...
    split(data, address, tail)    the file with bytes where it had zeros

pyelftools does the decoding; this module decides what a guest must have.  Invariant: every address
of an Elf that is read from, is inside its segments, and no size is taken from the file unchecked.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from elftools.elf.elffile import ELFFile

from uncore.errors import UserError
from uncore.program import abi

_WRITE_INSTEAD = "; write the path of an ELF that `uncore` has compiled, or of a C file"
LARGEST_IMAGE = 1 << 30  # code and static data, of which only touched lines cost anything
_PHDR = struct.Struct("<IIQQQQQQ")  # type flags offset vaddr paddr filesz memsz align
_PT_LOAD = 1
_CLASS_64, _LITTLE_ENDIAN, _RISCV, _EXECUTABLE = 2, 1, 243, 2


@dataclass(frozen=True)
class Segment:
    """A loaded part: `data` at `address`, zeros after it up to `size`."""

    address: int
    size: int
    offset: int  # of `data` in the file
    data: bytes

    def __contains__(self, address: int) -> bool:
        return self.address <= address < self.address + self.size


@dataclass(frozen=True)
class Symbol:
    """A function or an object."""

    address: int
    size: int
    name: str


@dataclass(frozen=True)
class Elf:
    """What a guest ELF holds."""

    entry: int
    segments: tuple[Segment, ...]
    sections: dict[str, tuple[int, int]]  # the .uc.* ones: address, size
    symbols: tuple[Symbol, ...]  # by address

    def bytes_at(self, address: int, size: int) -> bytes:
        """Initial memory; ValueError outside the image."""
        for segment in self.segments:
            if address in segment and address + size <= segment.address + segment.size:
                start = address - segment.address
                return segment.data[start : start + size].ljust(size, b"\0")
        raise ValueError(f"address {address:#x} is outside the program")

    def text_at(self, address: int) -> str:
        """A C string of the image."""
        for segment in self.segments:
            if address in segment:
                start = address - segment.address
                end = segment.data.index(b"\0", start)
                return segment.data[start:end].decode()
        raise ValueError(f"address {address:#x} is outside the program")

    def structures(self, section: str, structure: str) -> Iterator[tuple[int, dict[str, int]]]:
        """Address and fields of each structure in a section."""
        start, size = self.sections.get(section, (0, 0))
        for address in range(start, start + size - abi.size(structure) + 1, abi.size(structure)):
            yield address, abi.unpack(structure, self.bytes_at(address, abi.size(structure)))


def read(data: bytes, name: str) -> Elf:
    """Decodes and checks."""
    _check_header(data, name)
    try:
        elf = _decode(data)
    except Exception as error:  # the decoder's errors are as many as the ways to spoil a file
        raise UserError(f"{name}: a damaged or truncated ELF file{_WRITE_INSTEAD}") from error
    _check_ours(elf, name)
    return elf


def split(data: bytes, address: int, tail: bytes) -> bytes:
    """The file with `tail` at `address` instead of zeros: a segment of its own, which takes the
    rest of the segment that it was in."""
    file = bytearray(data.ljust(-(-len(data) // 8) * 8, b"\0"))
    table, count = struct.unpack_from("<Q", file, 32)[0], struct.unpack_from("<H", file, 56)[0]
    headers = []
    for n in range(count):
        kind, flags, offset, vaddr, paddr, size, room, align = _PHDR.unpack_from(
            file, table + n * _PHDR.size
        )
        end = paddr + room
        if kind == _PT_LOAD and paddr + size <= address and address + len(tail) <= end:
            there = vaddr + address - paddr
            headers.append((kind, flags, offset, vaddr, paddr, size, address - paddr, align))
            headers.append((kind, flags, len(file), there, address, len(tail), end - address, 8))
        else:
            headers.append((kind, flags, offset, vaddr, paddr, size, room, align))
    file += tail.ljust(-(-len(tail) // 8) * 8, b"\0")
    struct.pack_into("<Q", file, 32, len(file))
    struct.pack_into("<H", file, 56, len(headers))
    return bytes(file) + b"".join(_PHDR.pack(*header) for header in headers)


def _check_header(data: bytes, name: str) -> None:
    def refuse(what: str) -> None:
        raise UserError(f"{name}: {what}{_WRITE_INSTEAD}")

    if data[:4] != b"\x7fELF":
        refuse("not an ELF file")
    if len(data) < 64:
        refuse("a truncated ELF file: the header itself is cut off")
    kind, machine = (int.from_bytes(data[at : at + 2], "little") for at in (16, 18))
    if data[5] != _LITTLE_ENDIAN or machine != _RISCV:
        refuse("an ELF file for another processor; expected 64-bit little-endian RISC-V")
    if data[4] != _CLASS_64:
        refuse("an ELF file for 32-bit RISC-V; expected 64-bit")
    if kind != _EXECUTABLE:
        refuse("an ELF file that is not a program (an object or a library)")


def _decode(data: bytes) -> Elf:
    file = ELFFile(io.BytesIO(data))
    segments = tuple(_segments(file, data))
    sections = {}
    symbols: list[Symbol] = []
    for section in file.iter_sections():
        if section.name.startswith(".uc."):
            sections[section.name] = (section["sh_addr"], section["sh_size"])
        if section["sh_type"] == "SHT_SYMTAB":
            _check_extent(section["sh_offset"], section["sh_size"], data)
            symbols += _symbols(section)
    symbols.sort(key=lambda symbol: (symbol.address, symbol.size, symbol.name))
    return Elf(file["e_entry"], segments, sections, tuple(symbols))


def _check_extent(offset: int, size: int, data: bytes) -> None:
    if offset + size > len(data):
        raise ValueError("the file ends before its contents")


def _segments(file: Any, data: bytes) -> Iterator[Segment]:
    for segment in file.iter_segments("PT_LOAD"):
        offset, size = segment["p_offset"], segment["p_filesz"]
        _check_extent(offset, size, data)
        if size > segment["p_memsz"]:
            raise ValueError("a segment holds more than it loads")
        bytes_ = data[offset : offset + size]
        yield Segment(segment["p_paddr"], segment["p_memsz"], offset, bytes_)


def _symbols(table: Any) -> Iterator[Symbol]:
    for symbol in table.iter_symbols():
        if symbol["st_info"]["type"] in ("STT_FUNC", "STT_OBJECT", "STT_NOTYPE") and symbol.name:
            if symbol["st_shndx"] == "SHN_UNDEF" or symbol.name.startswith((".", "$")):
                continue
            yield Symbol(symbol["st_value"], symbol["st_size"], symbol.name)


def _check_ours(elf: Elf, name: str) -> None:
    try:
        start, _ = elf.sections[".uc.boot"]
        magic = elf.bytes_at(start, len(abi.MAGIC))
    except (KeyError, ValueError):
        magic = b""
    if not magic:
        raise UserError(
            f"{name}: a RISC-V program, but not one for uncore (it has no boot block);"
            " include uncore.h and let `uncore` compile the C file"
        )
    if magic != abi.MAGIC:
        raise UserError(
            f"{name}: made for another version of uncore.h (boot block {magic!r}, expected"
            f" {abi.MAGIC!r}); compile its C file again"
        )
    low, high = abi.CONSTANTS["UC_RAM_BASE"], abi.CONSTANTS["UC_RAM_BASE"] + LARGEST_IMAGE
    for segment in elf.segments:
        if not low <= segment.address <= segment.address + segment.size <= high:
            raise UserError(
                f"{name}: loads {segment.size} bytes at {segment.address:#x}, expected at most"
                f" {LARGEST_IMAGE >> 20} MiB from {low:#x}{_WRITE_INSTEAD}"
            )
    if not any(elf.entry in segment for segment in elf.segments):
        raise UserError(f"{name}: its entry {elf.entry:#x} is outside the program{_WRITE_INSTEAD}")
    if not {"uc_record", "uc_stacks"} <= {symbol.name for symbol in elf.symbols}:
        raise UserError(f"{name}: has no symbols; uncore reads results by them: do not strip it")
