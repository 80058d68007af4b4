"""Load, then change: a line that another core has written is fetched once or twice.

A protocol that passes lines on (R12) gives the reader of a written line the right to write it, so
the change that follows finds the line there.  Under all others the reader shares the line, and the
change asks for it again.
"""

from __future__ import annotations

from uncore.protocol import tables
from uncore.topology.machine import Machine

INHERITED = "family "  # how the source of a number begins that a family of machines states


def passes_lines(machine: Machine) -> bool:
    """True if a load takes a written line with the right to write it (R12)."""
    client = tables.of(machine.protocol, machine.tables).client
    return any("pass" in cell.actions for cell in client)


def description(machine: Machine) -> str:
    """A line of `uncore show`: number of transfers, and why this is thought of the machine."""
    other = _alternative(machine)
    passes = passes_lines(machine)
    if other:
        why = f"not measured; {_count(not passes)} with protocol={other}"
    else:
        why = "" if machine.protocol_source.startswith(INHERITED) else machine.protocol_source
    text = f"load, then change, of a line written elsewhere: {_count(passes)}"
    return f"{text} ({why})" if why else text


def open_choice(machine: Machine) -> str:
    """A sentence about a machine of which nobody has measured it; empty for all others."""
    other = _alternative(machine)
    if not other:
        return ""
    passes = passes_lines(machine)
    return (
        f"{machine.id}: to load and then change a line written elsewhere costs {_count(passes)};"
        f" nobody has measured it, and with protocol={other} it is {_count(not passes)}"
    )


def _alternative(machine: Machine) -> str:
    other = machine.alternative_protocol
    return "" if other in ("none", machine.protocol) else other


def _count(passes: bool) -> str:
    return "1 transfer" if passes else "2 transfers"
