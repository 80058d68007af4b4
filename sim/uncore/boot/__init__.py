"""Boots an operating system's kernel on a machine: describes the hardware to it, and runs it.

`Boot` holds all inputs of a run; `start(boot)` returns the run, and `Session` operates its console.
`begin`, `save` and `resume` save a run and continue it; `find` and `keep` use the cache of boots.
`kernel(path)`, `kernel_limits(path)` and `initrd(path, folder)` read the user's files.
"""

from uncore.boot.images import initrd, kernel, kernel_limits
from uncore.boot.kept_boots import FoundBoot, find, keep
from uncore.boot.kernel_run import Boot, start
from uncore.boot.kernel_symbols import Symbols, costs
from uncore.boot.saved_boot import BootRun, begin, resume, save
from uncore.boot.session import ConsoleState, Session

__all__ = [
    "Boot",
    "BootRun",
    "ConsoleState",
    "FoundBoot",
    "Session",
    "Symbols",
    "begin",
    "costs",
    "find",
    "initrd",
    "keep",
    "kernel",
    "kernel_limits",
    "resume",
    "save",
    "start",
]
