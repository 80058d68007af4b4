"""An operating system's kernel on a machine: what it finds, and how it runs.

Interface: `Boot`, all that decides a run; `start(boot)`, the run, and `Session`, who sits at it;
`begin`, `save`, `take_up`, where it is to be saved; `find`, `keep`, where it is kept unasked;
`kernel(path)`, `built_for(path)`, `initrd(path, folder)`, what it is made of.
"""

from uncore.boot.images import built_for, initrd, kernel
from uncore.boot.kept_boots import Found, find, keep
from uncore.boot.kernel_run import Boot, start
from uncore.boot.kernel_symbols import Symbols, costs
from uncore.boot.saved_boot import Begun, begin, save, take_up
from uncore.boot.session import Session, Stillness

__all__ = [
    "Begun",
    "Boot",
    "Found",
    "Session",
    "Stillness",
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
