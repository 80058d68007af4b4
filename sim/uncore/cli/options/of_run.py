"""Options of `run` alone: a run that is changed, a program of Linux."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from uncore.errors import UserError
from uncore.execution.request import find_program
from uncore.host.program import Sources
from uncore.job import Job
from uncore.program import LINUX_SUFFIXES, Program, is_for_linux, read_folder


@Parameter(name="*")
@dataclass(frozen=True)
class WhatIf:
    """What the program would cost otherwise."""

    free: Annotated[
        list[str], Parameter(negative="", help="objects of `uncore lines` whose lines cost nothing")
    ] = field(default_factory=list)
    apart: Annotated[
        list[str], Parameter(negative="", help="fields, A,B, that get lines of their own")
    ] = field(default_factory=list)


@Parameter(name="*")
@dataclass(frozen=True)
class OnLinux:
    """A program of Linux: how it is compiled, and what it finds."""

    argument: Annotated[
        list[str],
        Parameter(negative="", help="a word for the program; those behind -- are, too"),
    ] = field(default_factory=list)
    files: Annotated[
        Path | None, Parameter(help="folder that the program finds as /files, read-only")
    ] = None
    os: Annotated[
        Literal["machine", "free"],
        Parameter(help="what the system costs: what the machine says, or nothing"),
    ] = "machine"
    strace: Annotated[bool, Parameter(negative="", help="print the program's system calls")] = False
    source: Annotated[
        list[Path], Parameter(negative="", help="a further file of the program's, compiled with it")
    ] = field(default_factory=list)
    cflags: Annotated[str, Parameter(help="words for its compiler")] = ""
    include: Annotated[list[Path], Parameter(negative="", help="folder of its headers")] = field(
        default_factory=list
    )

    def of_job(self, job: Job) -> Job:
        """The same with what it finds."""
        if self == ON_LINUX:
            return job
        files = read_folder(self.files) if self.files else ()
        return replace(job, arguments=tuple(self.argument), files=files, system=self.os)

    def built(self) -> list[str]:
        """The words that say how the program was made, and what is in its folder: no job's."""
        said = [f"--source={path}" for path in self.source]
        said += [f"--include={path}" for path in self.include]
        said += [f"--cflags={self.cflags}"] if self.cflags else []
        return said + ([f"--files={self.files}"] if self.files else [])

    @property
    def flags(self) -> tuple[str, ...]:
        """All words for its compiler."""
        return (*shlex.split(self.cflags), *(f"-I{folder.resolve()}" for folder in self.include))

    def program(self, workload: str) -> Program:
        return find_program(workload, tuple(self.source), self.flags)

    def check_unused(self, workload: str) -> None:
        if replace(self, source=[], include=[], cflags="") != ON_LINUX:
            raise UserError(
                f"{workload}: words behind --, --files, --os and --strace are for programs"
            )

    def sources(self, workload: str) -> Sources | None:
        """What it is compiled of, to run on this computer; None of a workload."""
        path = Path(workload)
        more = bool(self.source or self.flags)
        if path.suffix not in LINUX_SUFFIXES or not is_for_linux(path, more):
            return None
        if self.files or self.os != "machine" or self.strace:
            raise UserError(
                "--host: a program has the files and the system of this computer: without --files,"
                " --os and --strace"
            )
        return Sources(path, tuple(self.source), self.flags)


WHAT_IF, ON_LINUX = WhatIf(), OnLinux()
