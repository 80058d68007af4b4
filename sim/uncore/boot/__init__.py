"""An operating system's kernel on a machine: what it finds, and how it runs.

Interface: `Boot`, all that decides a run; `start(boot)`, the run, and `Session`, who sits at it;
`begin`, `save`, `take_up`, where it is to be saved; `kernel(path)`, `built_for(path)`,
`initrd(path, folder)`, what it is made of.
"""

from uncore.boot.images import built_for, initrd, kernel
from uncore.boot.kernel_run import Boot, start
from uncore.boot.kernel_symbols import Symbols, costs
from uncore.boot.saved_boot import Begun, begin, save, take_up
from uncore.boot.session import Session, Stillness

__all__ = [
    "Begun",
    "Boot",
    "Session",
    "Stillness",
    "Symbols",
    "begin",
    "built_for",
    "costs",
    "initrd",
    "kernel",
    "save",
    "start",
    "take_up",
]
