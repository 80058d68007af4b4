"""Reads the declarations of gem5's objects from its sources, and writes them as data.

    python -m tests.gem5.declare SOURCES SOURCE FILE.json

SOURCES is a checkout, and SOURCE is its commit. Only the types that our run folders use are read.
For each type, the data contain:

    its bases
    its parameters, each with its kind (`!`: it has no default; `*`: it takes several values)
    its ports
    default values that are objects, with the parameters that are passed to their constructors
    parameters of its bases that it sets
    attributes that its methods set

The parameters of a controller are those of its protocol's state machine. A message buffer that is
connected to the network has the kind `MessageBuffer:To` or `MessageBuffer:From`.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from uncore.engine.gem5.protocols import PROTOCOLS

# Types that a document or sim/gem5/configuration.py names, except controllers.
NAMED_TYPES = (
    "Root System SrcClockDomain VoltageDomain RiscvBareMetal RiscvSemihosting IOXBar RubySystem"
    " RubyPortProxy RubyCache LRURP RubyPrefetcher MessageBuffer RubyDirectoryMemory RubySequencer"
    " SimpleMemory SimpleNetwork Switch SwitchPortBuffer SimpleExtLink SimpleIntLink"
    " RiscvTimingSimpleCPU PMAChecker HiFive RiscvRTC RubyController"
).split()
PORT = re.compile(r"(Vector)?(Reset)?(Request|Response)Port|(Vector)?Int(Source|Sink)Pin")
NOT_PARAMETERS = {"type", "abstract", "cxx_header", "cxx_class", "cxx_base", "cxx_exports"}
MACHINE = re.compile(r"^machine\(MachineType:(\w+).*?\)\s*:(.*?)^\{", re.DOTALL | re.MULTILINE)
MEMBER = re.compile(r"([\w:]+)\s*\*?\s+(\w+)\s*(.*)", re.DOTALL)
Declared = dict[str, Any]


def declare(sources: Path) -> tuple[dict[str, Declared], dict[str, list[str]]]:
    """Returns the types by name, and the values of the enumerations that are kinds of
    parameters.
    """
    classes = {
        node.name: node
        for path in sorted(sources.glob("src/**/*.py"))
        if path.name != "params.py"  # params.py defines kinds of parameters, not types of objects
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    }
    types = dict(_controllers(sources))
    pending = list(NAMED_TYPES)
    while pending:
        name = pending.pop()
        if name in classes and name not in types:
            types[name] = declared = _class(classes[name], classes)
            pending += declared["bases"]
            pending += [
                construction.split()[0] for construction in declared.get("objects", {}).values()
            ]
    kinds = {kind.strip("*!") for type_ in types.values() for kind in type_["params"].values()}
    enums = {
        kind: values for kind in sorted(kinds & classes.keys()) if (values := _enum(classes[kind]))
    }
    return dict(sorted(types.items())), enums


def _class(node: ast.ClassDef, classes: Iterable[str]) -> Declared:
    declared: Declared = {"bases": [_name(base) for base in node.bases]}
    declared |= {part: {} for part in ("params", "ports", "objects", "methods")} | {"sets": []}
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef):
            if assigned := [] if node.name == "SimObject" else sorted(set(_assigned(statement))):
                declared["methods"][statement.name] = assigned
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if name not in NOT_PARAMETERS and not name.startswith("_"):
                _attribute(declared, name, statement.value, classes)
    declared["bases"] = [base for base in declared["bases"] if base in classes]
    return {key: value for key, value in declared.items() if value or key in ("bases", "params")}


def _attribute(declared: Declared, name: str, value: ast.expr, classes: Iterable[str]) -> None:
    called = value.func if isinstance(value, ast.Call) else None
    if isinstance(called, ast.Attribute) and _name(called.value) in ("Param", "VectorParam"):
        assert isinstance(value, ast.Call)
        default = value.args[0] if len(value.args) > 1 else None
        has_default = default is not None or any(word.arg == "default" for word in value.keywords)
        many = "*" if _name(called.value) == "VectorParam" else ""
        declared["params"][name] = called.attr + many + ("" if has_default else "!")
        if default is None:
            return
        value = default
    elif called and _name(called) == "DeprecatedParam":
        return
    elif called and PORT.fullmatch(_name(called)):
        declared["ports"][name] = _name(called)
        return
    else:
        declared["sets"].append(name)
    if isinstance(value, ast.Call) and _name(value.func) in classes:
        words = [word.arg for word in value.keywords if word.arg]
        declared["objects"][name] = " ".join([_name(value.func), *words])


def _assigned(method: ast.FunctionDef) -> Iterator[str]:
    """Yields the attributes that a method assigns, such as `plic.n_src` for self.plic.n_src =
    ...
    """
    for node in ast.walk(method):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            path = ast.unparse(target)
            if re.fullmatch(r"self\.[a-z][\w.]*", path):
                yield path.removeprefix("self.")


def _enum(node: ast.ClassDef) -> list[str]:
    for statement in node.body:
        if isinstance(statement, ast.Assign) and _name(statement.targets[0]) in ("vals", "map"):
            return sorted(ast.literal_eval(statement.value))
    return []


def _name(expression: ast.expr) -> str:
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


def _controllers(sources: Path) -> Iterator[tuple[str, Declared]]:
    """Yields each state machine of a protocol as `protocol:kind`."""
    ruby = sources / "src/mem"
    (kinds,) = (
        ast.literal_eval(node.value)
        for node in ast.parse((ruby / "slicc/symbols/StateMachine.py").read_text()).body
        if isinstance(node, ast.Assign) and _name(node.targets[0]) == "python_class_map"
    )
    for protocol, supported in PROTOCOLS.items():
        for path in sorted(ruby.glob(f"ruby/protocol/**/{protocol}-*.sm")):
            for name, members in MACHINE.findall(path.read_text()):
                if f"{name}_Controller" in supported.kinds:
                    params = dict(_members(re.sub(r"//.*", "", members), kinds))
                    kind = f"{protocol}:{name}_Controller"
                    yield kind, {"bases": ["RubyController"], "params": params}


def _members(text: str, kinds: dict[str, str]) -> Iterator[tuple[str, str]]:
    for member in text.split(";"):
        if match := MEMBER.fullmatch(member.strip()):
            kind, name, rest = match.groups()
            network = re.search(r'network\s*=\s*"(\w+)"', rest)
            network_kind = f":{network[1]}" if network else ""
            yield name, kinds[kind] + network_kind + ("" if ":=" in rest else "!")


def main(sources: str, source: str, output: str) -> None:
    types, enums = declare(Path(sources))
    document = {"source": source, "enums": enums, "types": types}
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in types.items())
    header = (f"{json.dumps(key)}: {json.dumps(document[key])}" for key in ("source", "enums"))
    body = ",\n".join(lines)
    Path(output).write_text("{\n" + ",\n".join(header) + ',\n"types": {\n' + body + "\n}\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
