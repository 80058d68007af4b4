"""An operating system's kernel on a machine: boot."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore import system
from uncore._native import Run
from uncore.commands.options import With, note
from uncore.commands.status import FAILED, OK
from uncore.errors import GuestError, UserError
from uncore.placement import place
from uncore.topology import load
from uncore.topology.units import UnitError, size

MachineName = Annotated[str, Parameter(help="the machine (a name, a shape or a .toml file)")]
KernelFile = Annotated[Path, Parameter(help="Linux's Image for 64-bit RISC-V")]
InitrdFile = Annotated[Path | None, Parameter(help="archive of the files that it begins with")]
Harts = Annotated[int, Parameter(help="harts that it runs on; 0: all of the machine")]
Placed = Annotated[str, Parameter(name="--place", help="which harts those are, as of run")]
Append = Annotated[str, Parameter(help="words for the end of the kernel's command line")]
Typed = Annotated[
    str, Parameter(name="--run", help="command that a shell is given; behind it, it powers off")
]
Memory = Annotated[str, Parameter(help="what the kernel may use, shared out to the nodes")]
Most = Annotated[
    int, Parameter(help="millions of instructions after which it is given up; 0: none")
]

EVENTS, SPAN = 200_000, 10**9
PANIC = "Kernel panic"
GOODBYE = "sleep 1; poweroff -f"  # when the console has said all
PATIENCE = 5  # seconds between two words about progress


def boot(
    machine: MachineName,
    /,
    *,
    kernel: KernelFile,
    initrd: InitrdFile = None,
    harts: Harts = 1,
    placement: Placed = "compact",
    append: Append = "",
    typed: Typed = "",
    memory: Memory = "512MiB",
    most: Most = 0,
    with_: With = [],  # noqa: B006
) -> int:
    found = load(machine, with_)
    used = _harts(place(found, placement), harts, system.most_harts(kernel))
    engine = system.start(
        system.Boot(
            machine=found,
            harts=used,
            kernel=system.kernel(kernel),
            initrd=system.initrd(initrd) if initrd else b"",
            append=append,
            memory=_size(memory),
            typed=f"{typed}\n{GOODBYE}\n".encode() if typed else b"",
        )
    )
    console = _watch(engine, most)
    return _ended(engine, console)


def _harts(room: tuple[int, ...], asked: int, most: int) -> tuple[int, ...]:
    wanted = asked or len(room)
    if not 0 < wanted <= len(room):
        raise UserError(f"--harts {asked}: the machine has {len(room)}; write 1 to {len(room)}")
    if wanted > most:
        raise UserError(
            f"--harts {wanted}: the kernel was built for {most} (CONFIG_NR_CPUS); write --harts"
            f" {most} or less, or build it for more"
        )
    return room[:wanted]


def _size(text: str) -> int:
    try:
        return size(text)
    except UnitError as error:
        raise UserError(f"--memory {text}: {error}") from None


def _watch(engine: Run, most: int) -> str:
    """Runs it to its end; shows its console as it grows, and how far it is where nothing comes."""
    shown, spoken = 0, time.monotonic()
    going = True
    while going:
        going = engine.step(EVENTS, SPAN)
        text = str(engine.console)
        done = sum(hart["instructions"] for hart in engine.harts())
        if len(text) > shown:
            sys.stdout.write(text[shown:])
            sys.stdout.flush()
            shown, spoken = len(text), time.monotonic()
        elif time.monotonic() - spoken > PATIENCE:
            spoken = time.monotonic()
            note(f"{done / 1e6:.0f} M instructions, {engine.now / 1e9:.1f} ms")
        if most and done > most * 10**6:
            raise GuestError(
                f"given up after {done / 1e6:.0f} M instructions; write --most with more"
            )
    if not text.endswith("\n"):
        print()
    note(f"{done / 1e6:.1f} M instructions in {engine.now / 1e9:.3f} ms of simulated time")
    return text


def _ended(engine: Run, console: str) -> int:
    if PANIC in console:
        line = next(line for line in console.splitlines() if PANIC in line)
        raise GuestError(
            f"the kernel gave up: {line.partition(PANIC)[1]}{line.partition(PANIC)[2]}"
        )
    if engine.end == "exited":
        return FAILED if engine.exit_code else OK
    raise GuestError(f"the kernel stopped ({engine.end}): {engine.reason}")
