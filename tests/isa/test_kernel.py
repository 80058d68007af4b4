"""Does our hart boot a kernel exactly as QEMU's hart does, instruction by instruction
(follower.cc)?

The user provides the kernel; docs/linux.md says where to get one:

    UNCORE_KERNEL=FILE UNCORE_INITRD=FILE python -m pytest -s tests/isa/test_kernel.py
"""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest
from tests.isa import qemu

KERNEL, INITRD = os.environ.get("UNCORE_KERNEL"), os.environ.get("UNCORE_INITRD")
HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "sim" / "native"
DECODER = [NATIVE / "hart" / name for name in ("decode.cc", "expand.cc", "floating.cc")]
MEMORY_BYTES = 192 << 20
# instructions to follow, and instructions between two comparisons of memory
INSTRUCTIONS, COMPARISON_INTERVAL = 900_000_000, 1 << 26
# The CPU has the extensions of our hart, and PMP, which the firmware needs. It has no Sv57.
CPU = "rv64,h=off,zbc=off"
COMMAND_LINE = "earlycon=sbi console=ttyS0 no5lvl"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not KERNEL or not INITRD, reason="UNCORE_KERNEL, UNCORE_INITRD not set"),
    pytest.mark.skipif(qemu.QEMU is None, reason="qemu-system-riscv64 is not installed"),
    pytest.mark.skipif(
        platform.machine() != "x86_64",
        reason="the plugin reads registers of generated code for x86-64",
    ),
]


def plugin(folder: Path) -> Path:
    library = folder / "follower.so"
    compiler = os.environ.get("CXX", "c++").split()
    command = [*compiler, "-std=c++20", "-O2", "-fPIC", "-shared", f"-I{NATIVE}"]
    sources = [HERE / "follower.cc", *DECODER]
    subprocess.run([*command, "-o", str(library), *map(str, sources)], check=True)
    return library


def boot(folder: Path) -> subprocess.CompletedProcess[str]:
    ram, console = folder / "ram", folder / "console"
    command = [str(qemu.QEMU), "-M", "virt,memory-backend=ram"]
    shared = f"memory-backend-file,id=ram,size={MEMORY_BYTES},mem-path={ram},share=on"
    command += ["-m", f"{MEMORY_BYTES >> 20}M", "-object", shared, "-cpu", CPU]
    # A block has one instruction, and an instruction takes one nanosecond, so that all runs are
    # equal.
    command += ["-singlestep", "-icount", "shift=0,sleep=off"]
    command += ["-display", "none", "-monitor", "none", "-serial", f"file:{console}"]
    command += ["-kernel", str(KERNEL), "-initrd", str(INITRD), "-append", COMMAND_LINE]
    command += [
        "-plugin",
        f"{plugin(folder)},ram={ram},size={MEMORY_BYTES},count={INSTRUCTIONS},every={COMPARISON_INTERVAL}",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_kernel_boots_with_the_same_registers_and_memory_as_on_qemu(tmp_path: Path) -> None:
    run = boot(tmp_path)
    print(run.stdout)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.rstrip().endswith("no difference")
