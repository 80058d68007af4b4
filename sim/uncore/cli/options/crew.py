"""Options for the workers that run points, which are processes of this host or of a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cyclopts import Parameter

from uncore.cli.options.messages import note
from uncore.cli.options.single import Cluster, Cores
from uncore.errors import UserError
from uncore.execution.pool import Workers


@Parameter(name="*")
@dataclass(frozen=True)
class Crew:
    """Options of commands with many points: --cores and --cluster."""

    cores: Cores = 0
    cluster: Cluster = ""

    @contextmanager
    def at_work(self) -> Iterator[Workers]:
        """Yields the workers; a cluster is disconnected when the block ends."""
        if not self.cluster:
            yield workers(self.cores)
            return
        try:
            from uncore.execution.cluster import connected, exposure_warning  # noqa: PLC0415 (slow to load)
        except ImportError as error:
            raise UserError(
                f"--cluster {self.cluster}: needs the package {error.name}, which is not installed;"
                " write: pip install 'uncore[cluster]'"
            ) from None
        if warning := exposure_warning(self.cluster):
            note(warning)
        with connected(self.cluster, workers(self.cores)) as cluster:
            yield cluster


CREW = Crew()


def workers(cores: int) -> int:
    """Returns the number of processes for `--cores N`. If N is 0, that is one for each CPU that
    this process may use.
    """
    return cores or len(os.sched_getaffinity(0))
