"""The gallery: a page for each machine, with its topology and, where it was measured, its matrix
simulated and measured side by side."""

from __future__ import annotations

from pathlib import Path

from docs.site import markdown
from docs.site.playground import machines

from uncore import topology
from uncore.topology import Machine
from uncore.topology.picture import save_picture
from uncore_lab.figures import hardware
from uncore_lab.validate import handoff
from uncore_lab.validate.section import Request


def write(folder: Path, matrices: Path | None = None) -> None:
    """Heat maps show whole measured matrices, where there are any, or else the carried figures."""
    folder.mkdir(parents=True)
    rows, measured = [], hardware.carried()
    for name in machines():
        machine, file = topology.load(name), name.replace(":", "-")
        save_picture(machine, folder / f"{file}.svg")
        heat = _heat_map(name, folder, matrices) if name in measured else ""
        (folder / f"{file}.md").write_text(_page(name, file, machine, heat))
        what = "simulated and measured" if heat else ""
        rows.append(f"| [{name}]({file}.md) | {machine.name} | {machine.harts} | {what} |")
    head = "# Machines\n\n| machine | name | harts | matrix |\n|---|---|---:|---|\n"
    (folder / "README.md").write_text(head + "\n".join(rows) + "\n")


def _heat_map(name: str, folder: Path, matrices: Path | None) -> str:
    whole = matrices if matrices and (matrices / f"{name}.csv").is_file() else None
    compared = handoff.compared(name, Request(matrices=whole))
    return markdown.picture(handoff.picture(compared), folder)


def _page(name: str, file: str, machine: Machine, heat: str) -> str:
    levels = " > ".join(machine.levels)
    parts = [
        f"# {machine.name}",
        f"`{name}`: {machine.cores} cores, {machine.harts} harts, {machine.protocol}; {levels}."
        f" [Run it in the browser](../play.html#machine={name})",
        f"[![topology of {machine.name}]({file}.svg)]({file}.svg)",
    ]
    if heat:
        parts += [
            "## Handing a line over, between all pairs",
            heat,
            "How near they are, in numbers: [classes](../docs/results/handoffs.md),"
            " [pairs](../docs/results/pairs.md).",
        ]
    unknown = [f"* `{what}`: {why}" for what, why in machine.unknowns]
    parts += ["## What is not known of it", "\n".join(unknown)] if unknown else []
    return "\n\n".join([*parts, f"All its numbers, with sources: `uncore show {name}`.", ""])
