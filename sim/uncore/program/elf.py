"""Reads a guest ELF into plain values, and checks all of it.

    read(data, name) -> Elf       raises a UserError: truncated, not RISC-V, not a guest, ...
    split(data, address, tail)    the file with the bytes `tail`, which begin a new segment, at
                                  `address`, where it had zeros

An ELF file is three tables of fixed structures.  Each is read in one pass here, because pyelftools,
which other modules use for DWARF, takes longer for the symbols of a guest than a short run takes.

Invariant: every address that is read from is inside the segments, no size is taken from the file
unchecked, and the copied parts of the file are at most MAX_OVERLAP times as long as it is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from uncore.errors import UserError
from uncore.program import abi

_WRITE_INSTEAD = "; write the path of an ELF that `uncore` has compiled, or of a C file"
# maximum span of code and static data, of which only touched lines cost memory
MAX_IMAGE_SPAN_BYTES = 1 << 30
# maximum ratio of all tables, segments and names to the file; linkers let them overlap slightly
MAX_OVERLAP = 8
MAX_CODE_BYTES = 1 << 28  # maximum size of a Linux program's code, which is decoded as a whole
# Structures of the System V ABI; _EHDR begins at e_entry.
_EHDR = struct.Struct("<QQQI6H")  # entry phoff shoff flags ehsize phsize phnum shsize shnum names
_PHDR = struct.Struct("<IIQQQQQQ")  # type flags offset vaddr paddr filesz memsz align
_SHDR = struct.Struct("<IIQQQQIIQQ")  # name type flags addr offset size link info addralign entsize
_SYM = struct.Struct("<IBBHQQ")  # name info other shndx value size
_ENTRY_OFFSET = 24  # offset of e_entry
_PT_INTERP = 3
_SHF_COMPRESSED = 0x800
_PT_LOAD, _SHT_SYMTAB, _SHT_NOBITS, _SHN_UNDEF = 1, 2, 8, 0
_MACRO_PREFIX = "uc_value_"  # prefix of a parameter's second symbol (UC_VALUE of uncore.h)
_GENERATED_NAME_STARTS = b".$"  # first letters of names that tools generate
_NAMED = frozenset({0, 1, 2})  # STT_NOTYPE, STT_OBJECT, STT_FUNC
_CLASS_64, _LITTLE_ENDIAN, _RISCV, _EXECUTABLE, _SHARED = 2, 1, 243, 2, 3
USER_END = 1 << 38  # first address above those of a Linux program (Sv39)
# load address of position-independent programs; other programs are usually linked to it
FREE_LOAD_ADDRESS = 0x10000


@dataclass(frozen=True)
class Segment:
    """A loaded part: `data` at `address`, followed by zeros up to `size`."""

    address: int
    size: int
    offset: int  # offset of `data` in the file
    data: bytes
    rights: int = 7  # sum of 1 (read), 2 (write), 4 (execute)

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
    """The parts of a guest ELF."""

    entry: int
    segments: tuple[Segment, ...]
    sections: dict[str, tuple[int, int]]  # name of each section .uc.*: address, size
    symbols: tuple[Symbol, ...]  # sorted by address
    linux: bool  # True: a Linux program; False: a program for bare metal
    headers: tuple[int, int]  # address and number of the program headers
    load_offset: int  # difference of load addresses to the file's addresses (-static-pie), else 0

    def bytes_at(self, address: int, size: int) -> bytes:
        """Returns initial memory; raises ValueError outside the image."""
        for segment in self.segments:
            if address in segment and address + size <= segment.address + segment.size:
                start = address - segment.address
                return segment.data[start : start + size].ljust(size, b"\0")
        raise ValueError(f"address {address:#x} is outside the program")

    def text_at(self, address: int) -> str:
        """Returns a C string of the image; raises ValueError outside the image."""
        for segment in self.segments:
            if address in segment:
                start = address - segment.address
                end = segment.data.index(b"\0", start)
                return segment.data[start:end].decode()
        raise ValueError(f"address {address:#x} is outside the program")

    def structures(self, section: str, structure: str) -> Iterator[tuple[int, dict[str, int]]]:
        """Yields address and fields of each structure in a section."""
        start, size = self.sections.get(section, (0, 0))
        for address in range(start, start + size - abi.size(structure) + 1, abi.size(structure)):
            yield address, abi.unpack(structure, self.bytes_at(address, abi.size(structure)))


def read(data: bytes, name: str) -> Elf:
    """Decodes and checks a file; raises a UserError that begins with `name`."""
    _check_header(data, name)
    try:
        elf = _decode(data)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    except Exception as error:  # a damaged file can cause any error in the decoder
        raise UserError(f"{name}: a damaged or truncated ELF file{_WRITE_INSTEAD}") from error
    (_check_linux if elf.linux else _check_bare_metal)(elf, name)
    return elf


def section(data: bytes, name: str) -> bytes | None:
    """Returns a section's contents; None if there is no such section, or it is compressed."""
    _, _, start, *_, size, count, names = _EHDR.unpack_from(data, _ENTRY_OFFSET)
    file = _FileParts(data)
    section_headers = list(_SHDR.iter_unpack(file.part(start, count * size)))
    strings = file.contents(section_headers[names]) if section_headers else b""
    wanted_name = name.encode() + b"\0"
    matching = (
        section_header
        for section_header in section_headers
        if strings.startswith(wanted_name, section_header[0])
    )
    section_header = next(
        (section_header for section_header in matching if not section_header[2] & _SHF_COMPRESSED),
        None,
    )
    return file.contents(section_header) if section_header else None


def split(data: bytes, address: int, tail: bytes) -> bytes:
    """Returns the file with `tail` at `address`, where it had zeros.

    `tail` becomes the start of a new segment, which also contains the rest of the old one.
    """
    file = bytearray(data.ljust(-(-len(data) // 8) * 8, b"\0"))
    table, count = struct.unpack_from("<Q", file, 32)[0], struct.unpack_from("<H", file, 56)[0]
    headers = []
    for n in range(count):
        kind, flags, offset, vaddr, paddr, size, memory_size, align = _PHDR.unpack_from(
            file, table + n * _PHDR.size
        )
        end = paddr + memory_size
        if kind == _PT_LOAD and paddr + size <= address and address + len(tail) <= end:
            split_vaddr = vaddr + address - paddr
            headers.append((kind, flags, offset, vaddr, paddr, size, address - paddr, align))
            headers.append(
                (kind, flags, len(file), split_vaddr, address, len(tail), end - address, 8)
            )
        else:
            headers.append((kind, flags, offset, vaddr, paddr, size, memory_size, align))
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
    if kind == _SHARED and not int.from_bytes(data[_ENTRY_OFFSET : _ENTRY_OFFSET + 8], "little"):
        refuse("a shared library, which has no beginning of its own")
    if kind not in (_EXECUTABLE, _SHARED):
        refuse("an ELF file that is not a program (an object or a library)")


def _decode(data: bytes) -> Elf:
    load_offset = FREE_LOAD_ADDRESS if int.from_bytes(data[16:18], "little") == _SHARED else 0
    entry, *_ = header = _EHDR.unpack_from(data, _ENTRY_OFFSET)
    _, phoff, shoff, _, _, phsize, phnum, shsize, shnum, names = header
    if phsize != _PHDR.size or (shnum and shsize != _SHDR.size):
        raise ValueError("its tables are not of the 64-bit kind")
    file = _FileParts(data)
    section_headers = list(_SHDR.iter_unpack(file.part(shoff, shnum * _SHDR.size)))
    strings = file.contents(section_headers[names]) if section_headers else b""
    sections, symbols = {}, list[Symbol]()
    for section_header in section_headers:
        name, kind, _, address, _, size, link, *_ = section_header
        if strings.startswith(b".uc.", name):
            sections[file.name(strings, name)] = (address + load_offset, size)
        if kind == _SHT_SYMTAB:
            symbols += _symbols(
                file,
                file.contents(section_header),
                file.contents(section_headers[link]),
                load_offset,
            )
    symbols.sort(key=lambda symbol: (symbol.address, symbol.size, symbol.name))
    table = file.part(phoff, phnum * _PHDR.size)
    segments = tuple(_segments(file, table, load_offset))
    if any(kind == _PT_INTERP for kind, *_ in _PHDR.iter_unpack(table)):
        raise UserError("linked dynamically, and libraries are not loaded here; link with -static")
    linux = ".uc.boot" not in sections and any(
        s.address < abi.CONSTANTS["UC_RAM_BASE"] for s in segments
    )
    first = next((s.address - s.offset for s in segments if s.offset <= phoff), 0)
    headers = (first + phoff, phnum)
    return Elf(entry + load_offset, segments, sections, tuple(symbols), linux, headers, load_offset)


class _FileParts:
    """Copies parts of a file; their total size is at most MAX_OVERLAP times that of the file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.bytes_left = MAX_OVERLAP * len(data)

    def part(self, offset: int, size: int) -> bytes:
        if offset + size > len(self.data):
            raise ValueError("the file ends before its contents")
        self._charge(size)
        return self.data[offset : offset + size]

    def contents(self, section_header: Sequence[int]) -> bytes:
        _, kind, _, _, offset, size, *_ = section_header
        return b"" if kind == _SHT_NOBITS else self.part(offset, size)

    def name(self, strings: bytes, start: int) -> str:
        end = strings.index(b"\0", start)
        self._charge(end - start)
        return strings[start:end].decode()

    def _charge(self, size: int) -> None:
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise UserError(
                "an ELF file whose parts overlap:"
                f" they are more than {MAX_OVERLAP} times as long as the"
                f" file{_WRITE_INSTEAD}"
            )


def _segments(file: _FileParts, table: bytes, load_offset: int) -> Iterator[Segment]:
    for kind, flags, offset, _, address, size, memory_size, _ in _PHDR.iter_unpack(table):
        if kind == _PT_LOAD:
            if size > memory_size:
                raise ValueError("a segment holds more than it loads")
            rights = (flags >> 2 & 1) | flags & 2 | (flags & 1) << 2
            yield Segment(
                address + load_offset, memory_size, offset, file.part(offset, size), rights
            )


def _symbols(file: _FileParts, table: bytes, strings: bytes, load_offset: int) -> Iterator[Symbol]:
    """Yields the functions and objects that a programmer has named."""
    names: dict[int, str] = {}  # offset: name; local symbols share names
    for name_offset, info, _, section, value, size in _SYM.iter_unpack(table):
        if info & 15 not in _NAMED or section == _SHN_UNDEF:
            continue
        # most names are skipped, so they are not decoded
        if strings[name_offset] and strings[name_offset] not in _GENERATED_NAME_STARTS:
            name = names.get(name_offset) or names.setdefault(
                name_offset, file.name(strings, name_offset)
            )
            if not name.startswith(_MACRO_PREFIX):
                yield Symbol(value + load_offset, size, name)


def _check_linux(elf: Elf, name: str) -> None:
    for segment in elf.segments:
        if not 0 < segment.address <= segment.address + segment.size <= USER_END - (1 << 36):
            raise UserError(
                f"{name}: loads {segment.size} bytes at {segment.address:#x}, which is not where"
                " Linux puts a program; link it without a script of its own"
            )
    code = [s for s in elf.segments if s.rights & 4]
    span = max((s.address + s.size for s in code), default=0) - min(
        (s.address for s in code), default=0
    )
    if span > MAX_CODE_BYTES:
        raise UserError(
            f"{name}: its code spans {span >> 20} MiB,"
            f" expected at most {MAX_CODE_BYTES >> 20}; link"
            " it with its code in one place, and data in segments that are not executable"
        )
    if not any(elf.entry in s for s in code):
        raise UserError(f"{name}: its entry {elf.entry:#x} is not in its code{_WRITE_INSTEAD}")


def _check_bare_metal(elf: Elf, name: str) -> None:
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
    low, high = abi.CONSTANTS["UC_RAM_BASE"], abi.CONSTANTS["UC_RAM_BASE"] + MAX_IMAGE_SPAN_BYTES
    for segment in elf.segments:
        if not low <= segment.address <= segment.address + segment.size <= high:
            raise UserError(
                f"{name}: loads {segment.size} bytes at {segment.address:#x}, expected at most"
                f" {MAX_IMAGE_SPAN_BYTES >> 20} MiB from {low:#x}{_WRITE_INSTEAD}"
            )
    if not any(elf.entry in segment for segment in elf.segments):
        raise UserError(f"{name}: its entry {elf.entry:#x} is outside the program{_WRITE_INSTEAD}")
    if not {"uc_record", "uc_stacks"} <= {symbol.name for symbol in elf.symbols}:
        raise UserError(f"{name}: has no symbols; uncore reads results by them: do not strip it")
