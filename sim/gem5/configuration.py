"""Builds and runs the simulation that system.json describes; for gem5, in its own Python.

    gem5.opt configuration.py        system.json and the program lie beside this file

Every object of the document becomes one object of gem5, every connection one of its ports; nothing
is decided here.  An object belongs to the first one that names it, so owners stand before what they
own.  A value that is a table is not a number or a text:

    {"object": name}                 an object of the document
    {"new": type, "values": {...}}   one without a name
    {"at": path}                     a part of one, or a port to be connected with
    {"range": {...}}                 addresses
    {"file": name}                   in this folder
    {"newer": value}                 left out where this gem5 has no such parameter

It runs in slices of simulated time, and appends to progress.txt after each how far it is, in ps;
what comes of a run does not depend on them.
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
    """An object; since 24.1 a controller has its protocol's name before its own, and the short name
    is deprecated."""
    classes, full = vars(m5.objects), system["protocol"] + "_" + kind
    return classes[full if full in classes else kind]()


def value(written):
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
    """The object or attribute at `name.attribute.attribute`."""
    name, *way = path.split(".")
    return functools.reduce(getattr, way, objects[name])


def fill(made, values):
    for path, written in values.items():
        *way, last = path.split(".")
        owner = functools.reduce(getattr, way, made)
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
# hides warnings about slices, so that nothing stands between the program's words
_m5.core.setLogLevel(_m5.core.LogLevel.WARN)
with open(os.path.join(FOLDER, "progress.txt"), "w", encoding="ascii") as progress:
    while (event := m5.simulate(system["slice"])).getCause() == "simulate() limit reached":
        print(m5.curTick(), file=progress, flush=True)
print(f"\nuncore: exit code={event.getCode()} tick={m5.curTick()} cause={event.getCause()}")
