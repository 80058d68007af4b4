"""Texts of small machine files, which tests change."""

from __future__ import annotations

from pathlib import Path

from uncore.topology import Machine, load

ROOT = """\
[system.resolver]
knows = "directory"
at = "home"
reply = "direct"
unblock = "completion"
service = "4cy"
grants = 2

[memory]
node = "socket"
"""

SMALL = (
    """\
extends = "families/teaching"
name = "small"
tree = "socket:1 core:6 thread:2"

[clocks]
fabric = "2GHz"

[socket]
clock = "fabric"

[socket.join]
kind = "ring"
latency = "3cy + 1ns"
inject = "2ns"
width = "32B/cy"

"""
    + ROOT
)

# This machine file extends no other.
ALONE = """\
name = "alone"
tree = "core:4"
protocol = "mesi"
[core]
clock = "3GHz"
l1 = "32KiB 8-way 4cy"
l2 = "none"
instruction = "0.5cy"
mispredict = "15cy"
pause = "10cy"
atomic = "18cy"
hold = "10ns"
store_buffer = 48
smt_share = 1
lr = "exclusive"
atomics = "near"
[system]
join = "crossbar 10ns 32B/cy"
[system.resolver]
knows = "directory"
at = "home"
reply = "direct"
unblock = "completion"
service = "2ns"
grants = 4
[memory]
node = "system"
size = "1GiB"
latency = "70ns"
bandwidth = "50GB/s"
[messages]
control = "16B"
data = "80B"
[interrupt]
send = "100ns"
accept = "100ns"
entry = "200ns"
exit = "100ns"
multicast = "no"
"""


def write(folder: Path, text: str, name: str = "small.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def load_text(folder: Path, text: str, *overrides: str) -> Machine:
    return load(write(folder, text), overrides)


def with_join(join: str, tree: str) -> str:
    """Returns SMALL with another join (the body of a TOML table) and another tree."""
    head, rest = SMALL.split("[socket.join]\n")
    _, tail = rest.split("\n\n", 1)
    head = head.replace('tree = "socket:1 core:6 thread:2"', f'tree = "{tree}"')
    return f"{head}[socket.join]\n{join}\n\n{tail}"
