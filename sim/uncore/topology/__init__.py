"""Machines: load, check, resolve, route.

    machine = load("epyc7601x2", overrides=["socket.join.latency=32ns"])
    load("mine.toml"), load("mesh:16x8")      a file of one's own, a shape
    list_machines()                           (id, one line) of every shipped machine and shape
    draw(machine)                             the machine as text

The way a file goes: `document` reads it and its families (`positions`, `shorthand`), `resolve`
turns the tree of values into a `Machine` (`table`, `units`, `tree`, `joins`, `ownership`).  What
comes after that - engines, `route`, `show`, pictures - sees the `Machine` only.
"""

from uncore.topology.load import list_machines, load
from uncore.topology.machine import Machine
from uncore.topology.show import draw

__all__ = ["Machine", "draw", "list_machines", "load"]
