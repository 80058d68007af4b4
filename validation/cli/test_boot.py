"""Does `uncore boot` say what is wrong with the files it is given, before anything runs?"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from validation.isa import guest

IMAGE = struct.pack("<8sQQ32s", b"", 0, 1 << 20, b"") + b"RSC\x05" + bytes(8)
FILES = {
    "Image": IMAGE,
    "vmlinux-64": IMAGE,
    "config-64": b"CONFIG_NR_CPUS=2\nCONFIG_NUMA=y\nCONFIG_NODES_SHIFT=2\n",
    "cpio": b"070701",
    "elf": b"\x7fELF" + bytes(100),
    "gzip": b"\x1f\x8b" + bytes(100),
    "arm": bytes(56) + b"ARMd" + bytes(100),
    "x86": bytes(0x202) + b"HdrS" + bytes(100),
    "text": b"hello",
    "empty": b"",
}

MISTAKES = {
    "nothing": ((), "write a machine and --kernel, or --from"),
    "more nodes than the machine": (("--kernel", "Image", "--nodes", "9"), "write 1 to 1"),
    "files without a disk": (("--kernel", "Image", "--files", "."), "write --initrd too"),
    "no folder": (
        ("--kernel", "Image", "--initrd", "cpio", "--files", "elf"),
        "--files elf: not a folder",
    ),
    "both": (("--kernel", "Image", "--from", "elf"), "are the saved run's"),
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


@pytest.mark.usefixtures("files")
def test_more_nodes_than_the_kernel_was_built_for_are_told_of_as_fewer(uncore):
    told = uncore("boot", "epyc7601x2", "--kernel", "vmlinux-64")
    assert told.status == 2
    assert "write --nodes 4" in told.err


@pytest.mark.usefixtures("files")
def test_what_is_no_saved_boot_is_refused(uncore):
    for name, expected in (("text", "not a saved boot"), ("none", "No such file")):
        told = uncore("boot", "--from", name)
        assert (told.status, expected in told.err) == (2, True)


# A header of Linux, and a kernel that says TEXT and goes down for the reason CODE.
GUEST = """
    j 1f
    .balign 8
    .quad 0, 1 << 20
    .skip 32
    .ascii "RSC\\x05"
    .balign 8
1:  la a1, 2f
    li a0, 3f - 2f
    li a2, 0
    li a7, 0x4442434E
    li a6, 0
    ecall
    li a0, 0
    li a1, CODE
    li a7, 0x53525354
    li a6, 0
    ecall
2:  .ascii "TEXT\\n"
3:
"""


@pytest.mark.parametrize(
    "text, code, status, said",
    [
        ("ready", 0, 0, ""),
        ("ready", 1, 1, "went down for a failure"),
        ("Kernel panic - not syncing: no init", 0, 1, "Kernel panic - not syncing: no init"),
    ],
)
def test_end_of_a_kernel_is_the_status(uncore, tmp_path, text, code, status, said):
    source = GUEST.replace("TEXT", text).replace("CODE", str(code))
    Path("Image").write_bytes(guest.assemble(source, tmp_path).text)
    told = uncore("boot", "ccx:1x1", "--kernel", "Image")
    assert (told.status, told.out) == (status, f"{text}\n")
    assert said in told.err
    assert "result " in told.err


def test_outcome_as_json_has_the_same_hash_twice(uncore, tmp_path):
    source = GUEST.replace("TEXT", "ready").replace("CODE", "0")
    Path("Image").write_bytes(guest.assemble(source, tmp_path).text)
    once, again = (uncore("boot", "ccx:1x1", "--kernel", "Image", "--json") for _ in range(2))
    found = json.loads(once.out)
    assert (found["console"], found["end"]) == ("ready\n", "exited")
    assert again.out == once.out
