"""Machines: load them from files, check them, resolve them into numbers, and route messages.

    machine = load("epyc7601x2", overrides=["socket.join.latency=32ns"])
    load("mine.toml"), load("mesh:16x8")      a file of one's own, a shape
    list_machines()                           (id, one line) of every shipped machine and shape
    draw(machine)                             the machine as text

A file passes through these steps: `document` reads it and the families it extends (`positions`,
`shorthand`), and `resolve` turns the tree of values into a `Machine` (with `table_reader`, `units`,
`tree`, `joins`, `ownership`).  Everything after that, engines, `route`, `show` and pictures, sees
the `Machine` only.
"""

from uncore.topology.load import list_machines, load
from uncore.topology.machine import Machine
from uncore.topology.show import draw

__all__ = ["Machine", "draw", "list_machines", "load"]
