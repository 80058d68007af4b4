"""Options of a Linux program: how it is compiled, and its arguments and files."""

from __future__ import annotations

import shlex
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from uncore.cli.options.groups import panel
from uncore.cli.options.of_job import dataclass_of, fields, untouched
from uncore.errors import UserError
from uncore.execution.request import find_program
from uncore.host.program import Sources
from uncore.job import Job
from uncore.job.schema import Group, Scope, options
from uncore.program import LINUX_SUFFIXES, Program, is_for_linux

_PROGRAM = panel(Group.PROGRAM)
Strace = Annotated[
    bool, Parameter(negative="", help="print the program's system calls", group=_PROGRAM)
]
Source = Annotated[
    list[Path],
    Parameter(
        negative="",
        help="a further source file, compiled into the program; repeatable",
        group=_PROGRAM,
    ),
]
Cflags = Annotated[str, Parameter(help="options for the program's compiler", group=_PROGRAM)]
Include = Annotated[
    list[Path],
    Parameter(negative="", help="folder of headers for the program; repeatable", group=_PROGRAM),
]
_ADDED_OPTIONS = [
    ("strace", Strace, False),
    ("source", Source, field(default_factory=list)),
    ("cflags", Cflags, ""),
    ("include", Include, field(default_factory=list)),
]
_Declared: Any = dataclass_of("_Declared", [*fields(Scope.LINUX), *_ADDED_OPTIONS])


@Parameter(name="*")
class OnLinux(_Declared):  # type: ignore[misc]
    """Options of Linux programs: fields of a Job, and options for the compiler."""

    def of_job(self, job: Job) -> Job:
        """Returns the job with the program's arguments, files and system."""
        return job if untouched(self) else replace(job, **self.values())

    def values(self) -> dict[str, Any]:
        """Returns the fields of a Job."""
        declared = {name: option for name, option in options(Job).items() if name in vars(self)}
        return {
            n: option.form.read(option.flag, getattr(self, n)) for n, option in declared.items()
        }

    def words(self) -> list[str]:
        """Returns the options as a command line."""
        declared = [(option, n) for n, option in options(Job).items() if n in vars(self)]
        values = [(o, o.form.read(o.flag, getattr(self, n))) for o, n in declared]
        return [word for o, value in values for word in o.written(value)] + self.built()

    def built(self) -> list[str]:
        """Returns the options that a job does not keep: those of the compiler, and the paths of
        --files and --stdin.
        """
        words = [f"--source={path}" for path in self.source]
        words += [f"--include={path}" for path in self.include]
        words += [f"--cflags={self.cflags}"] if self.cflags else []
        paths = {"files": self.files, "stdin": self.stdin}
        return words + [f"--{name}={path}" for name, path in paths.items() if path]

    @property
    def flags(self) -> tuple[str, ...]:
        """The compiler's options."""
        return (*shlex.split(self.cflags), *(f"-I{folder.resolve()}" for folder in self.include))

    def program(self, workload: str) -> Program:
        return find_program(workload, tuple(self.source), self.flags)

    def check_unused(self, workload: str) -> None:
        if not untouched(replace(self, source=[], include=[], cflags="")):
            raise UserError(
                f"{workload}: words behind --, --files, --stdin, --expect-exit, --os,"
                " --strict-calls, --strace, --from-function, --to-function and --op are for"
                " programs"
            )

    def sources(self, workload: str) -> Sources | None:
        """Returns the sources to compile for this computer; None for a workload."""
        path = Path(workload)
        has_more_inputs = bool(self.source or self.flags)
        if path.suffix not in LINUX_SUFFIXES or not is_for_linux(path, has_more_inputs):
            return None
        if not untouched(replace(self, arguments=[], source=[], include=[], cflags="")):
            raise UserError(
                "--host: a program has the files and the system of this computer, and marks of its"
                " own: without --files, --stdin, --expect-exit, --os, --strict-calls, --strace,"
                " --from-function, --to-function and --op"
            )
        return Sources(path, tuple(self.source), self.flags)


ON_LINUX = OnLinux()
