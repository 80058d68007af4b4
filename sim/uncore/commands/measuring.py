"""Real machines: measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from uncore.commands import OK, app, note


@app.command
def measure(
    *,
    topology: Annotated[
        Path | None, Parameter(help="write a machine file of this computer (.toml)")
    ] = None,
    hwloc: Annotated[
        Path | None, Parameter(help="describe the computer of this lstopo XML instead")
    ] = None,
    force: Annotated[bool, Parameter(negative="", help="overwrite files")] = False,
) -> int:
    """What this computer's lines, atomics, locks and interrupts cost; a machine file of it."""
    from uncore.measure import describe, sysfs
    from uncore.measure import hwloc as xml
    from uncore.words import check_endings, check_new, write_whole

    check_endings({"--topology": topology})
    check_new({"--topology": topology}, force)
    computer = xml.read(hwloc) if hwloc else sysfs.read()
    if topology:
        write_whole(topology, describe.describe(computer))
        note(f"machine file: {topology}")
    return OK
