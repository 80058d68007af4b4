"""Does `uncore boot` say what is wrong with the files it is given, before anything runs?"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

IMAGE = struct.pack("<8sQQ32s", b"", 0, 1 << 20, b"") + b"RSC\x05" + bytes(8)
FILES = {
    "Image": IMAGE,
    "vmlinux-64": IMAGE,
    "config-64": b"CONFIG_NR_CPUS=2\n",
    "elf": b"\x7fELF" + bytes(100),
    "gzip": b"\x1f\x8b" + bytes(100),
    "arm": bytes(56) + b"ARMd" + bytes(100),
    "x86": bytes(0x202) + b"HdrS" + bytes(100),
    "text": b"hello",
    "empty": b"",
}

MISTAKES = {
    "no image": (("--kernel", "none"), "No such file"),
    "not an Image": (("--kernel", "elf"), "the kernel's Image is wanted"),
    "compressed": (("--kernel", "gzip"), "gunzip"),
    "for Arm": (("--kernel", "arm"), "a kernel for Arm"),
    "for x86": (("--kernel", "x86"), "a kernel for x86"),
    "neither": (("--kernel", "text"), "no Linux kernel for 64-bit RISC-V"),
    "nothing in it": (("--kernel", "empty"), "no Linux kernel for 64-bit RISC-V"),
    "no initrd": (("--kernel", "Image", "--initrd", "none"), "--initrd none: No such file"),
    "no archive": (("--kernel", "Image", "--initrd", "text"), "neither a cpio archive"),
    "more harts than the machine": (("--kernel", "Image", "--harts", "9"), "write 1 to 4"),
    "more than it was built for": (("--kernel", "vmlinux-64", "--harts", "3"), "CONFIG_NR_CPUS"),
    "no size": (("--kernel", "Image", "--memory", "much"), "--memory much"),
    "too little": (("--kernel", "Image", "--memory", "2MiB"), "write --memory with more"),
}


@pytest.fixture
def files(tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("words, expected", MISTAKES.values(), ids=MISTAKES)
def test_bad_files_are_refused_with_what_to_write(uncore, words, expected):
    told = uncore("boot", "ccx:1x4", *words)
    assert told.status == 2
    assert expected in told.err


@pytest.mark.usefixtures("files")
def test_kernel_that_traps_at_once_ends_with_status_1(uncore):
    told = uncore("boot", "ccx:1x1", "--kernel", "Image")
    assert told.status == 1
    assert "trapped without a handler" in told.err
