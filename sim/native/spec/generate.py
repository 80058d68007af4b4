"""Writes the structs in which the native engine reads a machine and a job.

    python sim/native/spec/generate.py FOLDER   by SCons: build/native/spec/*.hh
    headers() -> {"core_spec.hh": ..., "spec.hh": ...}

Each struct has a header of its own, and spec.hh includes them all: who needs the numbers of a core
is compiled again when these change, and nobody else.  A vector's elements are declared alone, so
whoever reads them includes their header.

A field declared in uncore/topology/machine.py or uncore/engine/native/spec.py becomes a member: a
number the narrowest unsigned type that holds its range, or the type it names (durations: Time); a
word of a fixed set an enumeration of its own; a tuple a vector, a dataclass its struct.  Plain
texts stay in Python, and so does what its field says is not native.  Properties of such types are
members too.  It needs the standard library and msgspec.
"""

from __future__ import annotations

import inspect
import runpy
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

SIM = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SIM))

from uncore.topology import machine  # noqa: E402
from uncore.topology.schema import (  # noqa: E402
    MAX_COUNT,
    Form,
    fields,
    form_of,
    limits,
    metadata,
    words_of,
)

WIDTH = 100
JOB = runpy.run_path(str(SIM / "uncore/engine/native/spec.py"))["Job"]  # without its package
HEAD = """\
// {name}: a part of a machine or of a job, as the engine reads it.
//
// Made by sim/native/spec/generate.py from uncore/topology/machine.py and
// uncore/engine/native/spec.py; binding/read_spec.hh fills it.
//
// Interface: the struct; each_field(spec, f) calls f(name, member) of each member;
// words(enumerator), all words of its kind as Python writes them, in order.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

{includes}

namespace uncore {{
"""
WHOLE = """\
// A job as the engine reads it: the numbers of a Machine and of a run.
//
// Made by sim/native/spec/generate.py.
#pragma once

"""


@dataclass(frozen=True)
class Member:
    name: str
    about: str
    type: Any

    @property
    def enumeration(self) -> str:
        return self.name.capitalize() if words_of(self.type) else ""


def members(part: type) -> Iterator[Member]:
    """Members of the struct that is made from a dataclass."""
    for member in fields(part):
        if member.native and cpp(member.type):
            yield Member(member.name, member.about, member.type)
    for name, of in inspect.getmembers(part, lambda value: isinstance(value, property)):
        type_ = get_type_hints(of.fget, include_extras=True)["return"]
        if cpp(type_) and type_ is not int:
            yield Member(name, inspect.getdoc(of) or "", type_)


def cpp(type_: Any) -> str:
    """The C++ type of a member; "" if it stays in Python, "enum" for a word of a fixed set."""
    if is_dataclass(type_):
        return f"{type_.__name__}Spec"
    if get_origin(type_) is tuple:
        inner = cpp(get_args(type_)[0])
        return f"std::vector<{inner}>" if inner else ""
    if type_ is bytes:
        return "std::vector<uint8_t>"
    if type_ is bool or words_of(type_):
        return "bool" if type_ is bool else "enum"
    return _integer(type_) if metadata(type_) else ""


def _integer(type_: Any) -> str:
    if form_of(type_) is Form.DURATION:
        return "Time"
    if named := [name for name in metadata(type_) if isinstance(name, str)]:
        return str(named[0])
    low, high = limits(type_)
    assert low >= 0, f"{type_}: name the type of a number that may be negative"
    return "uint32_t" if high <= MAX_COUNT else "uint64_t"


def parts(part: type) -> list[type]:
    """The dataclasses of its members, and then the dataclass itself."""
    parts_: list[type] = []
    for member in members(part):
        if is_dataclass(inner := element(member.type)):
            parts_ += [one for one in parts(inner) if one not in parts_]  # type: ignore[arg-type]
    return [*parts_, part]


def comment(text: str, indent: str = "") -> list[str]:
    lines = [line for block in text.split("\n\n") for line in _wrapped(block, indent)]
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    mark = f"{indent}// "
    return textwrap.wrap(" ".join(text.split()), WIDTH, initial_indent=mark, subsequent_indent=mark)


def identifier(word: str) -> str:
    return word.replace("-", "_")


def struct(part: type) -> list[str]:
    lines = [*comment(inspect.getdoc(part) or ""), f"struct {part.__name__}Spec {{"]
    for member in members(part):
        if member.enumeration:
            names = ", ".join(map(identifier, words_of(member.type)))
            lines.append(f"  enum class {member.enumeration} : uint8_t {{ {names} }};")
    for member in members(part):
        lines += comment(member.about, "  ")
        lines.append(f"  {member.enumeration or cpp(member.type)} {member.name};")
    return [*lines, "};", ""]


def visitor(part: type) -> list[str]:
    head = ["template <class F>", f"void each_field({part.__name__}Spec& spec, F f) {{"]
    calls = [f'  f("{member.name}", spec.{member.name});' for member in members(part)]
    return [*head, *calls, "}", ""]


def words(part: type) -> list[str]:
    lines: list[str] = []
    for member in members(part):
        if member.enumeration:
            names = words_of(member.type)
            kind = f"{part.__name__}Spec::{member.enumeration}"
            quoted = ", ".join(f'"{word}"' for word in names)
            head = f"constexpr std::array<std::string_view, {len(names)}> words({kind}) {{"
            body = f"return {{{quoted}}};"
            fits = len(line := f"{head} {body} }}") <= WIDTH
            lines += [line, ""] if fits else [head, f"  {body}", "}", ""]
    return lines


def file_of(part: type) -> str:
    return f"{part.__name__.lower()}_spec.hh"


def includes(part: type) -> list[str]:
    """Headers of the structs that are members, not elements of a vector."""
    held = [file_of(member.type) for member in members(part) if is_dataclass(member.type)]
    return [f'#include "{file}"' for file in ["time/time.hh", *(f"spec/{one}" for one in held)]]


def declared(part: type) -> list[str]:
    """Structs that are elements of its vectors."""
    inner = [element(member.type) for member in members(part) if get_origin(member.type) is tuple]
    return [f"struct {one.__name__}Spec;" for one in dict.fromkeys(filter(is_dataclass, inner))]


def element(type_: Any) -> Any:
    return element(get_args(type_)[0]) if get_origin(type_) is tuple else type_


def header(part: type) -> str:
    head = HEAD.format(name=f"{part.__name__}Spec", includes="\n".join(sorted(includes(part))))
    lines = [*head.splitlines(), ""]
    if elements := declared(part):
        lines += [*elements, ""]
    lines += [*struct(part), *words(part), *visitor(part)]
    return "\n".join([*lines, "}  // namespace uncore", ""])


def headers() -> dict[str, str]:
    """Contents of all headers, by file."""
    all_ = [*parts(machine.Machine), *parts(JOB)]
    whole = WHOLE + "".join(f'#include "spec/{file}"\n' for file in sorted(map(file_of, all_)))
    return {file_of(part): header(part) for part in all_} | {"spec.hh": whole}


if __name__ == "__main__":
    for file, text in headers().items():
        (Path(sys.argv[1]) / file).write_text(text)
