"""Declares the user's options for a run of SST, which are not part of a job (engine/options.py).

Threads and ranks change only the host time of a run.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

MESHES = ("merlin", "kingsley")
MAX_SST_PARALLEL = 1024


class Options(Struct, frozen=True):
    sst: Annotated[
        str | None, Meta(description="where SST is (its prefix); else UNCORE_SST, PATH")
    ] = None
    sst_threads: Annotated[
        int,
        Meta(
            ge=1,
            le=MAX_SST_PARALLEL,
            description="threads of one process of SST",
            extra={"write": f"a number of threads, 1 to {MAX_SST_PARALLEL}"},
        ),
    ] = 1
    sst_ranks: Annotated[
        int,
        Meta(
            ge=1,
            le=MAX_SST_PARALLEL,
            description="processes of SST (MPI)",
            extra={"write": f"a number of processes, 1 to {MAX_SST_PARALLEL}"},
        ),
    ] = 1
    sst_mesh: Annotated[
        Literal["merlin", "kingsley"],
        Meta(
            description="whose routers a mesh has in SST: merlin or kingsley",
            extra={"write": "merlin or kingsley"},
        ),
    ] = "merlin"
