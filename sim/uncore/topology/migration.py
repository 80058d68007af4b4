"""Counts the transfers for a load and a following store of a line that another core has written.

A protocol that passes lines on (R12) grants the reader of a written line the right to write it, so
that the store hits. Under all other protocols the reader only shares the line, and the store needs
another request.
"""

from __future__ import annotations

from uncore.protocol import tables
from uncore.topology.machine import Machine

FAMILY_SOURCE = "family "  # prefix of the source of a number from a family file


def passes_lines(machine: Machine) -> bool:
    """Returns True if a load can get a written line together with the right to write it (R12)."""
    client = tables.of(machine.protocol, machine.tables).client
    return any("pass" in cell.actions for cell in client)


def description(machine: Machine) -> str:
    """Returns a line of `uncore show`: the number of transfers, and the source for it."""
    alternative = _alternative(machine)
    passes = passes_lines(machine)
    if alternative:
        reason = f"not measured; {_count(not passes)} with protocol={alternative}"
    else:
        reason = (
            "" if machine.protocol_source.startswith(FAMILY_SOURCE) else machine.protocol_source
        )
    text = f"load, then change, of a line written elsewhere: {_count(passes)}"
    return f"{text} ({reason})" if reason else text


def open_choice(machine: Machine) -> str:
    """Returns a sentence about a machine whose protocol has not been measured; "" for other
    machines.
    """
    alternative = _alternative(machine)
    if not alternative:
        return ""
    passes = passes_lines(machine)
    return (
        f"{machine.id}: to load and then change a line written elsewhere costs {_count(passes)};"
        f" nobody has measured it, and with protocol={alternative} it is {_count(not passes)}"
    )


def _alternative(machine: Machine) -> str:
    alternative = machine.alternative_protocol
    return "" if alternative in ("none", machine.protocol) else alternative


def _count(passes: bool) -> str:
    return "1 transfer" if passes else "2 transfers"
