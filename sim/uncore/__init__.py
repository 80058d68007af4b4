"""Uncore: a cache-coherence and topology simulator.

    import uncore

    result = uncore.run("epyc7601x2", "lock/ticket", threads=[1, 2, 4], hold="50ns")
    result.to_polars()
    result.plot("ticket.svg")
    uncore.sweep("epyc7601x2", ["lock/mcs", "lock/cna"], "1,2..128", hold=["0", "1us"])
    uncore.machines(), uncore.workloads(), uncore.show("epyc7601x2")

Each name is loaded at its first use, so that importing one part stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from uncore.support import paths
from uncore.support.version import __version__

if TYPE_CHECKING:
    from uncore.api import (
        explore,
        html,
        lines,
        load_all,
        machines,
        matrix,
        plot,
        run,
        save,
        show,
        sweep,
        whatif,
        workloads,
    )
    from uncore.api import load_result as load

__all__ = [
    "__version__",
    "explore",
    "html",
    "lines",
    "load",
    "load_all",
    "machines",
    "matrix",
    "plot",
    "run",
    "save",
    "show",
    "sweep",
    "whatif",
    "workloads",
]

paths.find_native(__path__)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'uncore' has no attribute '{name}'")
    value = getattr(
        importlib.import_module("uncore.api"), "load_result" if name == "load" else name
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Lists the public names for completion, without the names that this file imports for
    itself.
    """
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
