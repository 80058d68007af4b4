"""Uncore: a cache-coherence and topology simulator.

    import uncore
    result = uncore.run("epyc7601x2", "lock/ticket", threads=[1, 2, 4])
    result.to_polars()

`run` is `uncore.api.run`; it is loaded when first used, so that importing a part stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uncore import paths
from uncore.version import __version__ as __version__

if TYPE_CHECKING:
    from uncore.api import load_result as load_result
    from uncore.api import run as run

paths.find_native(__path__)


def __getattr__(name: str) -> Any:
    if name in ("run", "load_result"):
        from uncore import api  # noqa: PLC0415 (slow to load)

        return getattr(api, name)
    raise AttributeError(f"module 'uncore' has no attribute '{name}'")
