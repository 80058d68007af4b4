"""Imports hwloc's test files: `python -m tests.tools.hwloc_corpus CHECKOUT`, a clone of hwloc.

Each XML of its tests, and each computer recorded there, which lstopo turns into XML, becomes a
machine file.  That machine is compared with what lstopo reports: processors, cores, packages,
memory nodes with processors, and caches with their sizes.  tests/measure/hwloc_corpus.toml has the
verdict for each by name; `--write` writes it anew.

    same            everything is equal
    same but ...    the differences, and the note in the head of the file that names them
    refused: ...    the reason

Interface for tests: `verdicts(checkout)`, `KEPT`. Exit status: 1 if a verdict differs from the kept
one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from uncore.errors import UserError
from uncore.topology.hwloc import xml
from uncore_lab.measure import hwloc, machine_file

KEPT = Path(__file__).parents[1] / "measure" / "hwloc_corpus.toml"
FOLDERS = ("xml", "linux", "x86")
CACHES = ("L1Cache", "L2Cache", "L3Cache")
INSTRUCTIONS = "2"  # a cache's type
Counts = Counter[tuple[str, int]]


def counts(root: ElementTree.Element) -> Counts:
    """Counts objects by type, caches also by size; parts without processors are left out."""
    found: Counts = Counter()
    for element in root.iter("object"):
        kind = element.get("type", "")
        if kind in ("PU", "Core") or (kind == "Package" and _has_processor(element)):
            found[kind, 0] += 1
        elif kind in CACHES and element.get("cache_type") != INSTRUCTIONS:
            found[kind, int(element.get("cache_size", "0"))] += 1
    return Counter({one: many for one, many in found.items() if one[1] or one[0] not in CACHES})


def _has_processor(element: ElementTree.Element) -> bool:
    return any(inner.get("type") == "PU" for inner in element.iter("object"))


def verdict(path: Path) -> str:
    try:
        computer = hwloc.read(path)
        machine = machine_file.loads(machine_file.describe(computer))
    except UserError as error:
        return f"refused: {str(error).replace(f'{path}', path.name)}"
    theirs = counts(ElementTree.parse(path).getroot())
    ours = counts(ElementTree.fromstring(xml(machine)))
    if any(node.memory for node in computer.nodes):
        theirs["NUMANode", 0] = sum(bool(node.cpus and node.memory) for node in computer.nodes)
        ours["NUMANode", 0] = len(machine.memories)
    differ = sorted(
        f"{kind}{f' of {size >> 10} KiB' * bool(size)}:"
        f" {ours[kind, size]}, not {theirs[kind, size]}"
        for kind, size in {*ours, *theirs}
        if ours[kind, size] != theirs[kind, size] and _is_told(kind, theirs)
    )
    return f"same but {'; '.join(differ)}" if differ else "same"


def _is_told(kind: str, theirs: Counts) -> bool:
    """Returns True if the XML has objects of this kind; otherwise it does not record the kind."""
    return any(other == kind for (other, _), number in theirs.items() if number)


def verdicts(checkout: Path) -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        for path in sorted((checkout / "tests/hwloc" / folder).glob("*.xml")):
            yield f"{folder}/{path.name}", verdict(path)
    for archive in sorted((checkout / "tests/hwloc/linux").glob("*.tar.bz2")):
        with tempfile.TemporaryDirectory(prefix="uncore-hwloc-") as folder:
            if path := recorded(archive, Path(folder)):
                yield f"linux/{archive.name}", verdict(path)


def recorded(archive: Path, folder: Path) -> Path | None:
    """Returns the XML of a computer whose /sys was packed; None if this lstopo cannot read it."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    root = next(path for path in folder.iterdir() if path.is_dir())
    path = folder / f"{archive.name.removesuffix('.tar.bz2')}.xml"
    command = ["lstopo-no-graphics", "-i", str(root), "--of", "xml", str(path)]
    subprocess.run(command, capture_output=True, check=False)
    return path if path.is_file() and path.stat().st_size else None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="hwloc's own test set, imported")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    found = dict(verdicts(options.checkout))
    if options.write:
        lines = [f"{json.dumps(name)} = {json.dumps(said)}" for name, said in found.items()]
        KEPT.write_text(
            "# Written by python -m tests.tools.hwloc_corpus.\n" + "\n".join(lines) + "\n"
        )
    kept = tomllib.loads(KEPT.read_text())
    for name, said in found.items():
        if kept.get(name) != said:
            print(f"{name}: {said}\n    kept: {kept.get(name)}")
    same = sum(said == "same" for said in found.values())
    print(f"{len(found)} computers, {same} the same in every count and size")
    return int(any(kept.get(name) != said for name, said in found.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
