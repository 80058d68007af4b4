"""How the user wants SST to run, which is no part of a job: options, kept in the environment.

    threads()    UNCORE_SST_THREADS, --sst-threads: threads of one process
    ranks()      UNCORE_SST_RANKS, --sst-ranks: processes of MPI
    mesh()       UNCORE_SST_MESH, --sst-mesh: whose routers a mesh is made of

Threads and ranks change how long a run takes and nothing else.
"""

from __future__ import annotations

import os

from uncore.errors import UserError

MESHES = ("merlin", "kingsley")
MOST = 1024


def threads() -> int:
    return _number("UNCORE_SST_THREADS", "threads")


def ranks() -> int:
    return _number("UNCORE_SST_RANKS", "processes")


def mesh() -> str:
    """An element of SST that has routers of a mesh."""
    said = os.environ.get("UNCORE_SST_MESH", MESHES[0])
    if said not in MESHES:
        raise UserError(f"UNCORE_SST_MESH={said}: write {' or '.join(MESHES)}")
    return said


def _number(name: str, what: str) -> int:
    said = os.environ.get(name, "1")
    if not said.isdigit() or not 1 <= int(said) <= MOST:
        raise UserError(f"{name}={said}: write a number of {what}, 1 to {MOST}")
    return int(said)
