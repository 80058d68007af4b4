"""Declares the user's options for a run of gem5, which are not part of a job
(engine/options.py).
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class Options(Struct, frozen=True):
    gem5: Annotated[
        str | None, Meta(description="where gem5 is (its program); else UNCORE_GEM5, PATH")
    ] = None
