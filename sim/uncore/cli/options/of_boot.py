"""Options of `boot`: the kernel and its files, and the moment at which the run is saved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore import boot as system
from uncore.engine.native.state import AT_BEGIN
from uncore.errors import UserError
from uncore.job.option_values import duration
from uncore.job.placement import place
from uncore.topology.machine import Machine
from uncore.topology.units import UnitError, size


@Parameter(name="*")
@dataclass(frozen=True)
class BootOptions:
    """Options of a kernel: its files, and the hardware that its device tree describes."""

    kernel: Annotated[
        Path | None, Parameter(help="kernel to boot: Linux's Image for 64-bit RISC-V")
    ] = None
    initrd: Annotated[Path | None, Parameter(help="initial RAM disk: an archive of files")] = None
    files: Annotated[
        Path | None, Parameter(help="folder that the kernel's programs see as /files")
    ] = None
    harts: Annotated[
        int,
        Parameter(help="number of harts; 0: as many as machine and kernel support"),
    ] = 0
    nodes: Annotated[
        int,
        Parameter(
            help="number of memory nodes reported to the kernel, neighbours merged; 0: the"
            " machine's own"
        ),
    ] = 0
    placement: Annotated[
        str, Parameter(name="--place", help="placement of these harts, as for run")
    ] = "compact"
    append: Annotated[str, Parameter(help="text to append to the kernel's command line")] = ""
    memory: Annotated[str, Parameter(help="amount of memory, divided among the nodes")] = "512MiB"

    def on(self, machine: Machine) -> system.Boot:
        """Returns the boot on a machine; raises a UserError if the kernel cannot run on it."""
        if self.kernel is None:
            raise UserError("boot: nothing to start; write a machine and --kernel, or --from")
        built = system.kernel_limits(self.kernel)
        return system.Boot(
            machine=machine,
            harts=_harts(place(machine, self.placement), self.harts, built.harts),
            kernel=system.kernel(self.kernel),
            initrd=_initrd(self.initrd, self.files),
            append=self.append,
            memory=_parse_size(self.memory),
            nodes=_nodes(len(machine.memories), self.nodes, built.nodes),
        )


DEFAULT_BOOT_OPTIONS = BootOptions()


@dataclass(frozen=True)
class Moment:
    """The moment at which a boot is saved: at a time, after a number of instructions, or if both
    are None, when its shell prompts.
    """

    time: int | None = None  # ps
    instructions: int | None = None

    @classmethod
    def of(cls, text: str) -> Moment:
        if text == AT_BEGIN:
            return cls()
        if millions := re.fullmatch(r"([0-9]{1,9})M", text):
            return cls(instructions=int(millions[1]) * 10**6)
        try:
            return cls(time=duration("--save-at", text))
        except UserError:
            raise UserError(
                f"--save-at {text}: expected begin, a time above zero, like 100ms, or millions of"
                " instructions, like 900M"
            ) from None

    def is_there(self, session: system.Session) -> bool:
        if self.time is not None:
            return bool(session.run.now >= self.time)
        if self.instructions is not None:
            return session.instructions >= self.instructions
        return session.waits


def _harts(available: tuple[int, ...], requested: int, max_harts: int) -> tuple[int, ...]:
    harts = requested or min(len(available), max_harts)
    if not 0 < harts <= len(available):
        raise UserError(
            f"--harts {requested}: the machine has {len(available)}; write 1 to {len(available)}"
        )
    if harts > max_harts:
        raise UserError(
            f"--harts {harts}: the kernel was built for {max_harts} (CONFIG_NR_CPUS); write --harts"
            f" {max_harts} or less, or build it for more"
        )
    return available[:harts]


def _nodes(available: int, requested: int, max_nodes: int) -> int:
    nodes = requested or available
    if not 0 < nodes <= available:
        raise UserError(f"--nodes {requested}: the machine has {available}; write 1 to {available}")
    if nodes > max_nodes:
        raise UserError(
            f"the machine has {available} memory nodes, and the kernel was built for {max_nodes}"
            f" (CONFIG_NODES_SHIFT); write --nodes {max_nodes}, by which it takes neighbours as"
            " one, or build it for more"
        )
    return nodes


def _initrd(path: Path | None, files: Path | None) -> bytes:
    if path:
        return system.initrd(path, files)
    if files:
        raise UserError("--files: they stand behind an initial RAM disk; write --initrd too")
    return b""


def _parse_size(text: str) -> int:
    try:
        return size(text)
    except UnitError as error:
        raise UserError(f"--memory {text}: {error}") from None
