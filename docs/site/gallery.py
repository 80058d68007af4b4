"""Writes a page for each machine: its topology and, if it was measured, a simulated and a measured
matrix.

The page of an example (topologies/examples) has a simulated matrix, the throughput of two locks,
and a list of the numbers that are guesses.
"""

from __future__ import annotations

from pathlib import Path

from docs.site import markdown
from docs.site.playground import machines

import uncore
from uncore import topology
from uncore.drawing import plot
from uncore.report.machine_picture import save_picture
from uncore.study import matrix
from uncore.support.paths import TOPOLOGIES
from uncore.topology import Machine
from uncore_lab.figures import hardware
from uncore_lab.validate import handoff
from uncore_lab.validate.section import ReportPicture, Request

EXAMPLES = sorted((TOPOLOGIES / "examples").glob("*.toml"))
LOCKS = ("lock/ticket", "lock/mcs")
MAX_THREADS = 64  # greatest thread count of a curve
MATRIX_HARTS = 24  # number of harts in a matrix
HEAT_MAP_ROUNDS = 10  # round trips of a pair; more would not change a colour
GUESSES = ("estimate", "teaching")


def write(folder: Path, matrices: Path | None = None) -> None:
    """Writes all pages. `matrices` is the folder of measured matrices; if it is None, the measured
    figures of the package are shown.
    """
    folder.mkdir(parents=True)
    rows, measured = [], hardware.machines_with_figures()
    for name in machines():
        machine, file_name = topology.load(name), name.replace(":", "-")
        save_picture(machine, folder / f"{file_name}.svg")
        heat_map = _heat_map(name, folder, matrices) if name in measured else ""
        (folder / f"{file_name}.md").write_text(_page(name, file_name, machine, heat_map))
        matrix_text = "simulated and measured" if heat_map else ""
        rows.append(
            f"| [{name}]({file_name}.md) | {machine.name} | {machine.harts} | {matrix_text} |"
        )
    rows += ["", "## Examples of the language", ""]
    rows += ["| example | name | harts |", "|---|---|---:|"]
    rows += [write_example(path, folder) for path in EXAMPLES]
    head = "# Machines\n\n| machine | name | harts | matrix |\n|---|---|---:|---|\n"
    (folder / "README.md").write_text(head + "\n".join(rows) + "\n")


def write_example(path: Path, folder: Path) -> str:
    """Writes the page of an example; returns its row for the list of examples."""
    machine, name = topology.load(path), path.stem
    save_picture(machine, folder / f"{name}.svg")
    (folder / f"{name}.md").write_text(_example(path, machine, folder))
    return f"| [{name}]({name}.md) | {machine.name} | {machine.harts} |"


def _example(path: Path, machine: Machine, folder: Path) -> str:
    """Returns the page of an example. Runs have one seed, because the pictures show no spread."""
    name = path.stem
    heat_panel = matrix.panel(uncore.matrix(str(path), sample=MATRIX_HARTS, seeds=[1]))
    threads = [1 << n for n in range(7) if 1 << n <= min(machine.harts, MAX_THREADS)]
    series = {lock: _curve(path, lock, threads) for lock in LOCKS}
    curve = plot.curves(series, "two locks", "threads", "turns, millions a second")
    guesses = [n for n in machine.numbers if n.source.startswith(GUESSES)]
    return "\n\n".join(
        [
            f"# {machine.name}",
            f"[![topology of {machine.name}]({name}.svg)]({name}.svg)",
            f"```toml\n{path.read_text()}```",
            "## A line between harts, and two locks",
            markdown.picture(
                ReportPicture(f"{name}-matrix", f"matrix of {name}", [heat_panel]), folder
            ),
            markdown.picture(ReportPicture(f"{name}-locks", f"locks on {name}", [curve]), folder),
            "## What is guessed",
            "\n".join(f"* `{n.key}`, {n.text}: {n.source}" for n in guesses),
            "",
        ]
    )


def _curve(path: Path, lock: str, threads: list[int]) -> list[list[float]]:
    points = uncore.run(str(path), lock, threads, parameters={"ops": 8}, seeds=(1,)).points
    return [[point.threads, (point.throughput or 0) / 1e6] for point in points]


def _heat_map(name: str, folder: Path, matrices: Path | None) -> str:
    measured_folder = matrices if matrices and (matrices / f"{name}.csv").is_file() else None
    compared = handoff.compared(name, Request(matrices=measured_folder), HEAT_MAP_ROUNDS)
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
    unknown_items = [f"* `{what}`: {why}" for what, why in machine.unknowns]
    parts += ["## What is not known of it", "\n".join(unknown_items)] if unknown_items else []
    return "\n\n".join([*parts, f"All its numbers, with sources: `uncore show {name}`.", ""])
