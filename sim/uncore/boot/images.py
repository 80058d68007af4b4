"""Reads the files that a user supplies: a kernel's image and its initial RAM disk.

`kernel(path)` and `initrd(path, files)` return their content, or raise a UserError that says what
the file is instead. `kernel_limits(path)` returns the largest numbers of harts and nodes that the
kernel supports.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from uncore.boot.archive import append_folder
from uncore.errors import UserError
from uncore.support.input_files import read_bounded

_MAGIC = b"RSC\x05"
UNLIMITED_COUNT = 1 << 20
MAX_IMAGE_BYTES = 1 << 30
# Offset of the magic, and size of the header (Documentation/arch/riscv/boot-image-header.rst).
_MAGIC_OFFSET, _IMAGE_HEADER_BYTES = 56, 64
_OTHER_FORMATS = {
    b"\x7fELF": "an ELF file: a kernel's Image is wanted (arch/riscv/boot/Image), no firmware",
    b"\x1f\x8b": "compressed by gzip: write gunzip -c FILE > Image",
    b"BZh": "compressed by bzip2: write bunzip2 -c FILE > Image",
    b"\xfd7zX": "compressed by xz: write xz -dc FILE > Image",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: write zstd -dc FILE > Image",
}
_ARCHIVES = (
    b"070701",
    b"070702",
    b"\x1f\x8b",
    b"\xfd7zX",
    b"\x28\xb5\x2f\xfd",
    b"BZh",
    b"\x02\x21",
)


@dataclass(frozen=True)
class Kernel:
    data: bytes
    offset: int  # load address relative to the start of RAM
    size: int  # image_size of the header: bytes in memory, including the bss


@dataclass(frozen=True)
class KernelLimits:
    """Largest counts that the kernel can use."""

    harts: int = UNLIMITED_COUNT
    nodes: int = UNLIMITED_COUNT


def kernel(path: Path) -> Kernel:
    data = _read(path, "--kernel")
    if data[_MAGIC_OFFSET : _MAGIC_OFFSET + 4] != _MAGIC:
        raise UserError(f"--kernel {path}: {_describe_format(data)}")
    offset, size = struct.unpack_from("<QQ", data, 8)
    return Kernel(data, offset, max(size, len(data)))


def kernel_limits(path: Path) -> KernelLimits:
    """Reads the limits from the configuration file in the kernel's folder, if there is one."""
    config = path.with_name(path.name.replace("vmlinux", "config").replace("vmlinuz", "config"))
    if config == path or not config.is_file():
        return KernelLimits()
    text = config.read_text(errors="replace")

    def number(name: str, default: int) -> int:
        match = re.search(rf"^CONFIG_{name}=(\d+)$", text, re.MULTILINE)
        return int(match[1]) if match else default

    return KernelLimits(
        number("NR_CPUS", UNLIMITED_COUNT),
        1 << number("NODES_SHIFT", 0) if "NUMA=y" in text else UNLIMITED_COUNT,
    )


def initrd(path: Path, files: Path | None = None) -> bytes:
    data = _read(path, "--initrd")
    if not data.startswith(_ARCHIVES):
        raise UserError(
            f"--initrd {path}: neither a cpio archive nor a compressed one; write"
            " find . | cpio -o -H newc | gzip"
        )
    return append_folder(data, files) if files else data


def _describe_format(data: bytes) -> str:
    for start, about in _OTHER_FORMATS.items():
        if data.startswith(start):
            return about
    if data[4:8] == b"zimg":
        return "an EFI program that unpacks itself: its Image is wanted (arch/riscv/boot/Image)"
    if data[_MAGIC_OFFSET : _MAGIC_OFFSET + 4] == b"ARMd":
        return "a kernel for Arm: one for 64-bit RISC-V is wanted"
    if data[0x202:0x206] == b"HdrS":
        return "a kernel for x86: one for 64-bit RISC-V is wanted"
    return "no Linux kernel for 64-bit RISC-V: its Image is wanted (arch/riscv/boot/Image)"


def _read(path: Path, option: str) -> bytes:
    try:
        return read_bounded(path, MAX_IMAGE_BYTES)
    except OSError as error:
        raise UserError(
            f"{option} {path}: {error.strerror}; name a file that can be read"
        ) from None
