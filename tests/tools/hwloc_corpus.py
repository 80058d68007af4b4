"""Imports hwloc's test files: `python -m tests.tools.hwloc_corpus CHECKOUT`, a clone of hwloc.

Each XML file of hwloc's tests, and each computer recorded there, which lstopo converts to XML,
becomes a machine file. The machine is compared with what lstopo reports: processors, cores,
packages, memory nodes with processors, and caches with their sizes. tests/measure/hwloc_corpus.toml
has the verdict on each by name; `--write` writes this file again.

    same            everything is equal
    same but ...    the differences, and the note in the head of the file that names them
    refused: ...    the reason

Interface for tests: `verdicts(checkout)`, `RECORDED`. The exit status is 1 if a verdict differs
from the recorded one.
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

RECORDED = Path(__file__).parents[1] / "measure" / "hwloc_corpus.toml"
FOLDERS = ("xml", "linux", "x86")
CACHES = ("L1Cache", "L2Cache", "L3Cache")
INSTRUCTION_CACHE = "2"  # the type of an instruction cache
Counts = Counter[tuple[str, int]]


def counts(root: ElementTree.Element) -> Counts:
    """Counts objects by type, and caches by type and size. Leaves out packages without
    processors.
    """
    objects: Counts = Counter()
    for element in root.iter("object"):
        kind = element.get("type", "")
        if kind in ("PU", "Core") or (kind == "Package" and _has_processor(element)):
            objects[kind, 0] += 1
        elif kind in CACHES and element.get("cache_type") != INSTRUCTION_CACHE:
            objects[kind, int(element.get("cache_size", "0"))] += 1
    return Counter(
        {key: number for key, number in objects.items() if key[1] or key[0] not in CACHES}
    )


def _has_processor(element: ElementTree.Element) -> bool:
    return any(inner.get("type") == "PU" for inner in element.iter("object"))


def verdict(path: Path) -> str:
    try:
        computer = hwloc.read(path)
        machine = machine_file.loads(machine_file.describe(computer))
    except UserError as error:
        return f"refused: {str(error).replace(f'{path}', path.name)}"
    reported = counts(ElementTree.parse(path).getroot())
    imported = counts(ElementTree.fromstring(xml(machine)))
    if any(node.memory for node in computer.nodes):
        reported["NUMANode", 0] = sum(bool(node.cpus and node.memory) for node in computer.nodes)
        imported["NUMANode", 0] = len(machine.memories)
    differences = sorted(
        f"{kind}{f' of {size >> 10} KiB' * bool(size)}:"
        f" {imported[kind, size]}, not {reported[kind, size]}"
        for kind, size in {*imported, *reported}
        if imported[kind, size] != reported[kind, size] and _has_kind(kind, reported)
    )
    return f"same but {'; '.join(differences)}" if differences else "same"


def _has_kind(kind: str, reported: Counts) -> bool:
    """Returns True if the XML has objects of this kind. Otherwise it does not record the kind."""
    return any(other == kind for (other, _), number in reported.items() if number)


def verdicts(checkout: Path) -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        for path in sorted((checkout / "tests/hwloc" / folder).glob("*.xml")):
            yield f"{folder}/{path.name}", verdict(path)
    for archive in sorted((checkout / "tests/hwloc/linux").glob("*.tar.bz2")):
        with tempfile.TemporaryDirectory(prefix="uncore-hwloc-") as folder:
            if path := converted(archive, Path(folder)):
                yield f"linux/{archive.name}", verdict(path)


def converted(archive: Path, folder: Path) -> Path | None:
    """Returns the XML of a computer whose /sys is in the archive, or None if this lstopo cannot
    read it.
    """
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
    verdicts_ = dict(verdicts(options.checkout))
    if options.write:
        lines = [
            f"{json.dumps(name)} = {json.dumps(verdict_)}" for name, verdict_ in verdicts_.items()
        ]
        RECORDED.write_text(
            "# Written by python -m tests.tools.hwloc_corpus.\n" + "\n".join(lines) + "\n"
        )
    recorded = tomllib.loads(RECORDED.read_text())
    for name, verdict_ in verdicts_.items():
        if recorded.get(name) != verdict_:
            print(f"{name}: {verdict_}\n    kept: {recorded.get(name)}")
    equal = sum(verdict_ == "same" for verdict_ in verdicts_.values())
    print(f"{len(verdicts_)} computers, {equal} the same in every count and size")
    return int(any(recorded.get(name) != verdict_ for name, verdict_ in verdicts_.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
