"""Machines: loads them from files, checks them, resolves them into numbers, and routes messages.

    machine = load("epyc7601x2", overrides=["socket.join.latency=32ns"])
    load("mine.toml"), load("mesh:16x8")      your own file, a shape
    list_machines()                           (id, one line) of every shipped machine and shape
    explained_text(machine)                             the machine as text

A file passes through these steps: `document` reads it and the families it extends (`positions`,
`shorthand`), and `resolve` turns the tree of values into a `Machine` (with `table_reader`, `units`,
`tree`, `joins`, `ownership`). Engines, `route`, `show` and pictures use only the `Machine`.
"""

from uncore.topology.load import list_machines, load
from uncore.topology.machine import Machine
from uncore.topology.show import explained_text

__all__ = ["Machine", "explained_text", "list_machines", "load"]
