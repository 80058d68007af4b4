"""Boots an operating system's kernel on a machine: describes the hardware to it, and runs it.

`Boot` holds all inputs of a run; `start(boot)` returns the run, and `Session` operates its console.
`begin`, `save` and `take_up` save a run and continue it; `find` and `keep` use the cache of boots.
`kernel(path)`, `built_for(path)` and `initrd(path, folder)` read the user's files.
"""

from uncore.boot.images import built_for, initrd, kernel
from uncore.boot.kept_boots import Found, find, keep
from uncore.boot.kernel_run import Boot, start
from uncore.boot.kernel_symbols import Symbols, costs
from uncore.boot.saved_boot import Begun, begin, save, take_up
from uncore.boot.session import ConsoleState, Session

__all__ = [
    "Begun",
    "Boot",
    "ConsoleState",
    "Found",
    "Session",
    "Symbols",
    "begin",
    "built_for",
    "costs",
    "find",
    "initrd",
    "keep",
    "kernel",
    "save",
    "start",
    "take_up",
]
