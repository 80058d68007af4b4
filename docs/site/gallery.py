"""The gallery: a page for each machine, with its topology and, where it was measured, its matrix
simulated and measured side by side."""

from __future__ import annotations

import shutil
from pathlib import Path

from docs.site.playground import machines

from uncore import topology
from uncore.report.document.machine import STYLE, topology_of
from uncore.topology import Machine

TOP = Path(__file__).resolve().parents[2]
HEAT = TOP / "docs/validation"  # written by `uncore validate --all --page`


def write(folder: Path) -> None:
    folder.mkdir(parents=True)
    rows = []
    for name in machines():
        found, file = topology.load(name), name.replace(":", "-")
        drawn = topology_of(found).replace("<svg", f"<svg {SPACE}", 1)
        at = drawn.index(">", drawn.index("<svg")) + 1
        svg = drawn[drawn.index("<svg") : at] + f"<style>{STYLE}</style>" + drawn[at:]
        (folder / f"{file}.svg").write_text(svg.replace("</figure>", ""))
        heat = HEAT / f"{name}.png"
        if heat.is_file():
            shutil.copyfile(heat, folder / f"{file}.png")
        (folder / f"{file}.md").write_text(_page(name, file, found, heat.is_file()))
        measured = "simulated and measured" if heat.is_file() else ""
        rows.append(f"| [{name}]({file}.md) | {found.name} | {found.harts} | {measured} |")
    head = "# Machines\n\n| machine | name | harts | matrix |\n|---|---|---:|---|\n"
    (folder / "README.md").write_text(head + "\n".join(rows) + "\n")


SPACE = 'xmlns="http://www.w3.org/2000/svg"'


def _page(name: str, file: str, machine: Machine, measured: bool) -> str:
    levels = " > ".join(machine.levels)
    parts = [
        f"# {machine.name}",
        f"`{name}`: {machine.cores} cores, {machine.harts} harts, {machine.protocol}; {levels}."
        f" [Run it in the browser](../play.html#machine={name})",
        f"![topology of {machine.name}]({file}.svg)",
    ]
    if measured:
        parts += [
            "## Handing a line over, between all pairs",
            f"![matrix of {machine.name}, simulated and measured]({file}.png)",
            "How near they are, in numbers: [validation](../docs/validation.md).",
        ]
    unknown = [f"* `{what}`: {why}" for what, why in machine.unknowns]
    parts += ["## What is not known of it", "\n".join(unknown)] if unknown else []
    return "\n\n".join([*parts, f"All its numbers, with sources: `uncore show {name}`.", ""])
