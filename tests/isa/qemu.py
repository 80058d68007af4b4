"""Runs the same guest here and on QEMU, so that the logs that it writes can be compared
(programs.py).

on_hart(image, ...) and on_qemu(image, folder) return the bytes of the log.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.isa import guest, programs

QEMU = shutil.which("qemu-system-riscv64")
# QEMU's CPU has exactly the extensions of our hart.
CPU = "rv64,h=off,s=off,zbc=off,pmp=off"


def on_qemu(image: guest.Image, folder: Path) -> bytes:
    command = [str(QEMU), "-M", "virt", "-m", "16M", "-cpu", CPU, "-bios", "none"]
    command += ["-kernel", str(image.path), "-display", "none", "-serial", "none"]
    command += ["-monitor", "none", "-semihosting-config", "enable=on,target=native"]
    # If this Python runs with a sanitizer, QEMU must run without it.
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run(command, cwd=folder, env=env, check=True, timeout=20)
    return (folder / "log").read_bytes()


def on_hart(image: guest.Image, **options: object) -> bytes:
    machine = guest.boot(image, ram_size=16 << 20, **options)
    assert machine.run(10_000_000) == "exit", f"{machine.fatal()} at {machine.pc():#x}"
    length = machine.read(image.labels["write_block"] + 16, 8)
    log: bytes = machine.read(programs.LOG, int.from_bytes(length, "little"))
    return log
