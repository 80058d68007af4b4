"""Reads the description of another computer from hwloc's XML (`lstopo --of xml`).

    read(path) -> Computer

The format is that of hwloc 2: objects are nested by containment, and memory nodes are children of
the objects to which they are nearest.  Files of version 1 are refused, because they nest other
objects inside memory nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from uncore.errors import UserError
from uncore.host.computer import Cache, Computer, Cpu, Node, of_one_line
from uncore.support.input_files import read_bounded
from uncore.topology.schema import DEFAULT_LINE_BYTES, LINE_SIZES, MOST_HARTS
from uncore_lab.measure.hwloc_extras import USUAL_CACHE_BYTES, clocks, distances, groups, notes

Element = ElementTree.Element

MAX_FILE_BYTES = 1 << 26
MAX_OBJECTS, MAX_DEPTH = 1 << 17, 64
MAX_SET_WORDS = 1 << 11  # words of 32 bits in a set of processors, that is 65,536 processors
MAX_DIGITS = 18  # digits of a number; hwloc writes fewer
CACHE_LEVELS = {"L1Cache": 1, "L2Cache": 2, "L3Cache": 3}


def read(path: Path) -> Computer:
    try:
        root = ElementTree.fromstring(read_bounded(path, MAX_FILE_BYTES))
    except OSError as error:
        raise UserError(f"{path}: cannot read it: {error.strerror}") from None
    except ElementTree.ParseError as error:
        raise UserError(f"{path}:{error.position[0]}: no XML: {error.msg}") from None
    except (LookupError, ValueError) as error:  # raised by codecs
        raise UserError(f"{path}:1: {error}; expected UTF-8, which hwloc writes") from None
    version = root.get("version", "1")
    if root.tag != "topology":
        raise UserError(f"{path}: read <{root.tag}>; expected hwloc's XML: lstopo --of xml > FILE")
    if not version.startswith(("2", "3")):
        raise UserError(
            f"{path}: hwloc wrote it in version {version} of its XML; expected version 2 or later:"
            f" lstopo-no-graphics -i {path.name} --of xml > new.xml converts it"
        )
    _check_size(path, root)
    return _computer(path, root)


def _check_size(path: Path, root: Element) -> None:
    """Refuses a file with more objects or deeper nesting than any real topology has, because the
    time to read it grows with the product of both.
    """
    objects, depth, level = 0, 0, [root]
    while level:
        objects, depth = objects + len(level), depth + 1
        if objects > MAX_OBJECTS or depth > MAX_DEPTH:
            raise UserError(
                f"{path}: more than {MAX_OBJECTS} elements, or {MAX_DEPTH} inside each other;"
                " expected what lstopo --of xml says of one computer"
            )
        level = [inner for element in level for inner in element]


def _computer(path: Path, root: Element) -> Computer:
    parents = {child: parent for parent in root.iter() for child in parent}
    units = _units(root)
    if long := [n for unit in units if len(n := unit.get("os_index", "")) > MAX_DIGITS]:
        raise UserError(f"{path}: read os_index={long[0][:40]!r}; expected a processor's number")
    if len(units) > MOST_HARTS:
        raise UserError(f"{path}: {len(units)} processors; expected at most {MOST_HARTS}")
    if not units:
        raise UserError(f"{path}: has no object of type PU: it describes no processor")
    numbers = {_number(unit.get("os_index")) for unit in units}
    if len(numbers) < len(units):
        raise UserError(f"{path}: two objects of type PU have one os_index; expected each once")
    complete = [
        _cpus_of_bitmap(path, machine, "complete_cpuset")
        for machine in _objects_of_type(root, "Machine")
    ]
    infos = {info.get("name"): info.get("value", "") for info in root.iter("info")}
    mhz = clocks(root, lambda kind: _cpus_of_bitmap(path, kind, "cpuset"))
    packages = _numbers_of(list(_objects_of_type(root, "Package")))
    cpus = [_cpu(unit, parents, packages, mhz) for unit in units]
    nodes = tuple(sorted(_nodes(path, root, parents), key=lambda node: node.number))
    caches = of_one_line(_caches(path, root))
    return Computer(
        vendor=infos.get("CPUVendor", ""),
        family=_number(infos.get("CPUFamilyNumber")),
        model=_number(infos.get("CPUModelNumber")),
        name=infos.get("CPUModel", "unknown processor"),
        mhz=max((cpu.mhz for cpu in cpus), default=0),
        clock="hwloc: highest clock of the kind" if mhz else "",
        cpus=tuple(sorted(cpus, key=lambda cpu: cpu.number)),
        offline=tuple(sorted(set().union(*complete) - numbers)),
        caches=caches,
        nodes=nodes,
        source=f"hwloc {path.name}",
        groups=tuple(groups(root, _processors)),
        distances=distances(root, [node.number for node in nodes if node.cpus]),
        notes=tuple(notes(root, caches[0].line if caches else DEFAULT_LINE_BYTES)),
    )


def _objects_of_type(root: Element, kind: str) -> Iterator[Element]:
    return (element for element in root.iter("object") if element.get("type") == kind)


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) <= MAX_DIGITS else 0


def _units(element: Element) -> list[Element]:
    """Returns the processing units that the operating system has numbered."""
    return [
        unit for unit in _objects_of_type(element, "PU") if unit.get("os_index", "").isdecimal()
    ]


def _processors(element: Element) -> tuple[int, ...]:
    return tuple(sorted(_number(unit.get("os_index")) for unit in _units(element)))


def _numbers_of(elements: list[Element]) -> dict[Element, int]:
    """Returns the number of each element: that of the file if these are distinct, otherwise its
    position.
    """
    numbers = [_number(element.get("os_index")) for element in elements]
    return dict(
        zip(
            elements,
            numbers if len(set(numbers)) == len(numbers) else range(len(numbers)),
            strict=True,
        )
    )


def _cpu(
    unit: Element,
    parents: dict[Element, Element],
    packages: dict[Element, int],
    mhz: dict[int, float],
) -> Cpu:
    enclosing: dict[str | None, Element] = {}
    element = unit
    while element in parents:
        element = parents[element]
        enclosing.setdefault(element.get("type"), element)
    package = packages[enclosing["Package"]] if "Package" in enclosing else 0
    die = _number(enclosing["Die"].get("os_index")) if "Die" in enclosing else 0
    number = _number(unit.get("os_index"))
    return Cpu(number, package, die, _processors(enclosing.get("Core", unit)), mhz.get(number, 0))


def _caches(path: Path, root: Element) -> Iterator[Cache]:
    for kind, level in CACHE_LEVELS.items():
        for element in _objects_of_type(root, kind):
            yield _cache(path, element, level)


def _cache(path: Path, element: Element, level: int) -> Cache:
    size, ways, line = (
        _number(element.get(f"cache_{name}")) for name in ("size", "associativity", "linesize")
    )
    line_size = line if line in LINE_SIZES else DEFAULT_LINE_BYTES
    if size % line_size or ways * line_size > size > 0:
        raise UserError(
            f"{path}: read cache_size={size}, cache_associativity={ways} of an"
            f" {element.get('type')}; expected a multiple of {line_size}, and room for a line in"
            " each way"
        )
    return Cache(level, size or USUAL_CACHE_BYTES.get(level, 0), ways, _processors(element), line)


def _nodes(path: Path, root: Element, parents: dict[Element, Element]) -> Iterator[Node]:
    taken_cpus: set[int] = set()
    for element in sorted(
        _objects_of_type(root, "NUMANode"), key=lambda e: _number(e.get("os_index"))
    ):
        holder, cache = parents[element], None
        while holder.get("type") == "MemCache":
            cache, holder = _cache(path, holder, 0), parents[holder]
        # If several memory nodes are near a processor, it belongs to the first that names it.
        near_cpus = set(_processors(holder))
        if element.get("cpuset") is not None:
            near_cpus &= _cpus_of_bitmap(path, element, "cpuset")
        mine = near_cpus - taken_cpus
        taken_cpus |= mine
        memory = _number(element.get("local_memory"))
        number = _number(element.get("os_index"))
        yield Node(number, tuple(sorted(mine)), memory, cache if cache and cache.size else None)


def _cpus_of_bitmap(path: Path, element: Element, name: str) -> set[int]:
    """Reads a bitmap of hwloc: words of 32 bits in hexadecimal, the most significant word first."""
    # The prefix stands for all processors above those of the words that follow.
    text = element.get(name, "").removeprefix("0xf...f,")
    if (count := text.count(",") + 1) > MAX_SET_WORDS:
        raise UserError(f"{path}: read {count} words of {name}; expected at most {MAX_SET_WORDS}")
    if not re.fullmatch(r"((0x)?[0-9a-fA-F]{1,8}|(?=,|$))(,((0x)?[0-9a-fA-F]{1,8})?)*", text):
        raise UserError(
            f"{path}: read {name}={text!r} of a {element.get('type', element.tag)}; expected words"
            ' of 32 bits in hexadecimal, like "0x000000ff" or "0x1,0xffffffff"'
        )
    words = [int(word or "0", 16) for word in text.split(",")]
    bits = sum(word << 32 * position for position, word in enumerate(reversed(words)))
    return {bit for bit in range(bits.bit_length()) if bits >> bit & 1}
