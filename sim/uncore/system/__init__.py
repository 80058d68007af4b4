"""An operating system's kernel on a machine: what it finds, and how it runs.

Interface: `Boot`, all that decides a run; `start(boot)`, the run; `kernel(path)`, `initrd(path)`.
"""

from uncore.system.boot import Boot, start
from uncore.system.images import initrd, kernel, most_harts

__all__ = ["Boot", "initrd", "kernel", "most_harts", "start"]
