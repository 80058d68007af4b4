"""Builds and runs the simulation that system.json describes; gem5 executes it in its own Python.

    gem5.opt configuration.py        system.json and the program are in the same folder

Each object of the document becomes one object of gem5, and each connection joins two ports.  This
program makes no decisions of its own.  An object is owned by the first object that refers to it, so
owners come first.  A value that is a table stands for something other than a number or a string:

    {"object": name}                 an object of the document
    {"new": type, "values": {...}}   a new object without a name
    {"at": path}                     a part of an object, or a port to connect to
    {"range": {...}}                 a range of addresses
    {"file": name}                   the path of a file in this folder
    {"newer": value}                 the value, if this version of gem5 has the parameter

The simulation runs in slices of simulated time.  After each slice, the time reached, in ps, is
appended to progress.txt.  The result of a run does not depend on the slices.
"""

import functools
import json
import os

import _m5.core
import m5
import m5.objects
from m5.params import NULL, AddrRange

FOLDER = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(FOLDER, "system.json"), encoding="utf-8") as file:
    system = json.load(file)


def make(kind):
    """Makes an object of a type.

    Since gem5 24.1 the name of a controller's type begins with the name of the protocol, and the
    name without it is deprecated.
    """
    classes, full = vars(m5.objects), system["protocol"] + "_" + kind
    return classes[full if full in classes else kind]()


def value(written):
    """Returns the value that gem5 gets for a value of the document."""
    if written is None:
        return NULL
    if isinstance(written, list):
        return [value(item) for item in written]
    if not isinstance(written, dict):
        return written
    if "object" in written:
        return objects[written["object"]]
    if "at" in written:
        return reach(written["at"])
    if "range" in written:
        return AddrRange(**written["range"])
    if "file" in written:
        return os.path.join(FOLDER, written["file"])
    made = make(written["new"])
    fill(made, written["values"])
    return made


def reach(path):
    """Returns the object or attribute at `name.attribute.attribute`."""
    name, *attributes = path.split(".")
    return functools.reduce(getattr, attributes, objects[name])


def fill(made, values):
    """Sets parameters of an object; a key is a path of attributes."""
    for path, written in values.items():
        *attributes, last = path.split(".")
        owner = functools.reduce(getattr, attributes, made)
        if isinstance(written, dict) and "newer" in written:
            if last not in type(owner)._params:
                continue
            written = written["newer"]
        setattr(owner, last, value(written))


objects = {name: make(described["type"]) for name, described in system["objects"].items()}
for name, described in system["objects"].items():
    fill(objects[name], described["values"])
for a, b in system["ports"]:
    owner, port = a.rsplit(".", 1)
    setattr(reach(owner), port, reach(b))
for path, *arguments in system["calls"]:
    reach(path)(*map(value, arguments))

m5.instantiate()
# hides gem5's messages about slices, which would interrupt the program's output
_m5.core.setLogLevel(_m5.core.LogLevel.WARN)
with open(os.path.join(FOLDER, "progress.txt"), "w", encoding="ascii") as progress:
    while (event := m5.simulate(system["slice"])).getCause() == "simulate() limit reached":
        print(m5.curTick(), file=progress, flush=True)
print(f"\nuncore: exit code={event.getCode()} tick={m5.curTick()} cause={event.getCause()}")
