"""Does `uncore boot` refuse bad files before it starts, and report how a kernel has ended?"""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from tests.isa import guest

from uncore import _native
from uncore.cli.keyboard import keyboard

IMAGE = struct.pack("<8sQQ32s", b"", 0, 1 << 20, b"") + b"RSC\x05" + bytes(8)
FILES = {
    "Image": IMAGE,
    "vmlinux-64": IMAGE,
    "config-64": b"CONFIG_NR_CPUS=2\nCONFIG_NUMA=y\nCONFIG_NODES_SHIFT=2\n",
    "cpio": b"070701",
    "elf": b"\x7fELF" + bytes(100),
    "gzip": b"\x1f\x8b" + bytes(100),
    "arm": bytes(56) + b"ARMd" + bytes(100),
    "unpacks": b"MZ\0\0zimg" + bytes(100),
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
    "not an Image": (("--kernel", "elf"), "Image is wanted"),
    "compressed": (("--kernel", "gzip"), "gunzip"),
    "for Arm": (("--kernel", "arm"), "a kernel for Arm"),
    "unpacks itself": (("--kernel", "unpacks"), "an EFI program that unpacks itself"),
    "for x86": (("--kernel", "x86"), "a kernel for x86"),
    "neither": (("--kernel", "text"), "no Linux kernel for 64-bit RISC-V"),
    "nothing in it": (("--kernel", "empty"), "no Linux kernel for 64-bit RISC-V"),
    "no initrd": (("--kernel", "Image", "--initrd", "none"), "--initrd none: No such file"),
    "no archive": (("--kernel", "Image", "--initrd", "text"), "neither a cpio archive"),
    "more harts than the machine": (("--kernel", "Image", "--harts", "9"), "write 1 to 4"),
    "more than it was built for": (("--kernel", "vmlinux-64", "--harts", "3"), "CONFIG_NR_CPUS"),
    "no size": (("--kernel", "Image", "--memory", "much"), "--memory much"),
    "saved at no time": (("--kernel", "Image", "--state", "s", "--save-at", "900"), "like 900M"),
    "saved nowhere": (("--kernel", "Image", "--save-at", "1us"), "write --state FILE too"),
    "no symbols": (("--kernel", "Image", "--symbols", "text"), "--symbols text: no symbols of"),
    "symbols nowhere": (("--kernel", "Image", "--symbols", "none"), "--symbols none: No such"),
    "too little": (("--kernel", "Image", "--memory", "2MiB"), "write --memory with more"),
}


@pytest.fixture
def files(tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("arguments, expected", MISTAKES.values(), ids=MISTAKES)
def test_bad_arguments_of_boot_are_refused_with_the_remedy(uncore, arguments, expected):
    result = uncore("boot", "ccx:1x4", *arguments)
    assert result.status == 2
    assert expected in result.err


@pytest.mark.usefixtures("files")
def test_kernel_that_traps_at_once_ends_with_status_1(uncore):
    result = uncore("boot", "ccx:1x1", "--kernel", "Image")
    assert result.status == 1
    assert "trapped without a handler" in result.err


@pytest.mark.usefixtures("files")
def test_too_many_nodes_for_the_kernel_are_refused_with_the_remedy(uncore):
    result = uncore("boot", "epyc7601x2", "--kernel", "vmlinux-64")
    assert result.status == 2
    assert "write --nodes 4" in result.err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "name, expected",
    [("text", "not a saved run"), ("empty", "not a saved run"), ("none", "No such file")],
)
def test_boot_from_a_file_that_is_no_saved_run_is_refused(uncore, name, expected):
    result = uncore("boot", "--from", name)
    assert (result.status, expected in result.err) == (2, True)


# A kernel with the header of a Linux Image. It prints TEXT and powers off with the reason CODE.
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


# Writes to the console for ever.
FLOODS = """
1:  la a1, 1b
    li a0, 1 << 16
    li a2, 0
    li a7, 0x4442434E
    li a6, 0
    ecall
    j 1b
"""
# Writes to one page after another.
FILLS = """
1:  la a1, 1b
    li a2, 4096
2:  add a1, a1, a2
    sd a1, (a1)
    j 2b
"""


@pytest.mark.parametrize(
    "loop, message",
    [(FLOODS, "more than 16 MiB written to the console"), (FILLS, "--memory gives it 64 MiB")],
)
def test_kernel_that_would_exhaust_the_memory_of_the_host_is_stopped(
    uncore, tmp_path, loop, message
):
    source = GUEST.partition("1:")[0] + loop
    Path("Image").write_bytes(guest.assemble(source, tmp_path).text)
    result = uncore(*"boot ccx:1x1 --json --kernel Image --memory 64MiB".split())
    assert (result.status, message in result.err) == (1, True), result.err[-500:]


@pytest.mark.parametrize(
    "text, code, status, message",
    [
        ("ready", 0, 0, ""),
        ("ready", 1, 1, "went down for a failure"),
        ("Kernel panic - not syncing: no init", 0, 1, "Kernel panic - not syncing: no init"),
    ],
)
def test_exit_status_follows_from_how_the_kernel_ended(
    uncore, tmp_path, text, code, status, message
):
    source = GUEST.replace("TEXT", text).replace("CODE", str(code))
    Path("Image").write_bytes(guest.assemble(source, tmp_path).text)
    result = uncore("boot", "ccx:1x1", "--kernel", "Image")
    assert (result.status, result.out) == (status, f"{text}\n")
    assert message in result.err
    assert "result " in result.err


def test_note_reports_a_kernel_that_uses_fewer_harts_than_the_machine_has(uncore, tmp_path):
    source = GUEST.replace("TEXT", "smp: Brought up 1 node, 2 CPUs").replace("CODE", "0")
    Path("Image").write_bytes(guest.assemble(source, tmp_path).text)
    for harts, noted in (("2", False), ("4", True)):
        result = uncore("boot", "ccx:1x4", "--kernel", "Image", "--harts", harts)
        assert (result.status, "the kernel uses 2 of 4 harts" in result.err) == (0, noted)


def test_two_equal_boots_print_the_same_outcome_as_json(uncore, tmp_path):
    source = GUEST.replace("TEXT", "ready").replace("CODE", "0")
    Path("Image").write_bytes(guest.assemble(source, tmp_path).text)
    first, second = (uncore("boot", "ccx:1x1", "--kernel", "Image", "--json") for _ in range(2))
    outcome = json.loads(first.out)
    assert (outcome["console"], outcome["end"]) == ("ready\n", "exited")
    assert second.out == first.out


# Executes sixteen million instructions before it prints.
BUSY = GUEST.replace(
    "1:  la a1", "1:  li t0, 1 << 23\n4:  addi t0, t0, -1\n    bnez t0, 4b\n    la a1"
)
needs_arena = pytest.mark.skipif(
    _native.Arena.make() is None, reason="sanitizers keep their own memory"
)


@pytest.fixture
def busy(tmp_path: Path, uncore) -> None:
    source = BUSY.replace("TEXT", "ready").replace("CODE", "0")
    Path("Image").write_bytes(guest.assemble(source, tmp_path).text)


@needs_arena
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("when, reached", [("1ms", "1.0 ms"), ("7M", "2.0 ms")])
def test_boot_continued_from_a_saved_state_has_the_same_outcome(uncore, when, reached):
    unsaved = uncore("boot", "ccx:1x1", "--kernel", "Image", "--json")
    saved = uncore(*"boot ccx:1x1 --kernel Image --json --state it --save-at".split(), when)
    assert re.search(f"saved in it, at .* M instructions, {reached}", saved.err)
    once_more = uncore(*"boot --from it --json --state later --save-at 2500us".split())
    last = uncore("boot", "--from", "later", "--json")
    assert [result.out for result in (saved, once_more, last)] == [unsaved.out] * 3


@needs_arena
@pytest.mark.usefixtures("busy")
def test_boot_that_ends_before_save_at_is_an_error(uncore):
    for when in ("begin", "1s", "900M"):
        result = uncore(*"boot ccx:1x1 --kernel Image --state it --save-at".split(), when)
        assert (result.status, result.out) == (2, "ready\n")
        assert f"--save-at {when}: the run ended before, at 17 M instructions" in result.err
        assert not Path("it").exists()


@needs_arena
@pytest.mark.usefixtures("busy")
def test_truncated_or_foreign_saved_boot_is_refused(uncore, monkeypatch):
    assert uncore(*"boot ccx:1x1 --kernel Image --state it --save-at 1us".split()).status == 0
    result = uncore("run", "--from", "it")
    assert (result.status, "write uncore boot --from it" in result.err) == (2, True)
    complete_state = Path("it").read_bytes()
    for size in (10, len(complete_state) // 2, len(complete_state) - 20):
        Path("cut").write_bytes(complete_state[:size])
        result = uncore("boot", "--from", "cut")
        assert (result.status, "not a saved run, or a damaged one" in result.err) == (2, True)
    monkeypatch.setattr("uncore.engine.copy.content", lambda: "another")
    result = uncore("boot", "--from", "it")
    assert (result.status, "another copy of uncore" in result.err) == (2, True)


@needs_arena
@pytest.mark.usefixtures("busy")
def test_boot_continues_if_its_state_cannot_be_saved_on_a_full_disk(uncore):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        result = uncore(*"boot ccx:1x1 --kernel Image --state it --save-at 1us".split())
    finally:
        signal.signal(signal.SIGXFSZ, before)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (result.status, result.out) == (2, "ready\n")
    assert "it: cannot write it" in result.err
    assert not Path("it").exists()


@pytest.mark.usefixtures("busy")
def test_boot_stopped_at_its_limit_reports_that_it_was_given_up(uncore):
    result = uncore(*"boot ccx:1x1 --kernel Image --most 1".split())
    assert result.status == 1
    assert "given up after" in result.err


@pytest.mark.usefixtures("busy")
def test_summary_counts_interrupts_by_kind(uncore):
    result = uncore("boot", "ccx:1x1", "--kernel", "Image")
    assert "0 IPIs, 0 interrupts of devices, 0 of timers" in result.err


def test_interrupted_boot_keeps_its_console_and_reports_its_progress(tmp_path: Path) -> None:
    endless = (
        BUSY.replace("TEXT", "here")
        .replace("CODE", "0")
        .replace("    li a0, 0\n", "7:  addi t1, t1, 1\n    j 7b\n", 1)
    )
    (tmp_path / "Image").write_bytes(guest.assemble(endless, tmp_path).text)
    arguments = [sys.executable, "-m", "uncore", "boot", "ccx:1x1", "--kernel", "Image"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(arguments, cwd=tmp_path, **pipes) as run:
        # The line arrives while the kernel still runs, although the output is a pipe.
        assert run.stdout.readline() == "here\n"
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=30)
    assert (run.returncode, out) == (130, "")
    assert re.search(r"interrupted at \d+ M instructions, [\d.]+ ms", err)


def stops_echoing(terminal: int) -> bool:
    """Waits until the terminal no longer echoes input; returns False after half a minute."""
    for _ in range(300):
        if not termios.tcgetattr(terminal)[3] & termios.ECHO:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("ending", [signal.SIGTERM, None], ids=str)
def test_terminal_does_not_echo_during_a_boot_and_is_restored_after_it(
    tmp_path: Path, ending
) -> None:
    """SIGTERM stands for Ctrl-C: it ends the command in the same way, but a process in the
    background does not ignore it.
    """
    loop = "7:  addi t1, t1, 1\n    j 7b\n" if ending else ""
    slow = BUSY.replace("TEXT", "here").replace("CODE", "0").replace("    li a0, 0\n", loop, 1)
    (tmp_path / "Image").write_bytes(guest.assemble(slow, tmp_path).text)
    master, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    arguments = [sys.executable, "-m", "uncore", "boot", "ccx:1x1", "--kernel", "Image"]
    with subprocess.Popen(arguments, cwd=tmp_path, stdin=terminal, stdout=-1, stderr=-1) as run:
        if ending:  # without a signal the process may already have ended
            assert stops_echoing(terminal)
            run.send_signal(ending)
        run.communicate(timeout=30)
    assert run.returncode == (130 if ending else 0)
    assert termios.tcgetattr(terminal) == before
    os.close(master), os.close(terminal)


def test_each_key_of_a_terminal_is_read_at_once_until_control_d() -> None:
    master, terminal = pty.openpty()
    with os.fdopen(terminal) as stream, keyboard(stream) as typed:
        for keys, text in ((b"l", "l"), (b"s\r", "s\n"), (b"\x04", "")):
            os.write(master, keys)
            assert select.select([stream], [], [], 10)[0], "waits for the line's end"
            assert typed() == text
        os.set_blocking(master, False)
        with pytest.raises(BlockingIOError):
            os.read(master, 10)  # no input was echoed
    os.close(master)
