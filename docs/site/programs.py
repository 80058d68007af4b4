"""Writes pages about programs of other projects: how to build the program, its curve on three
machines, its costliest source line, and the gains of changes.

    write(folder)                              writes pages from programs.toml and programs.json
    python -m docs.site.programs DIR           runs the programs in DIR and updates programs.json
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docs.site import markdown

import uncore
from uncore.drawing.panels import Curves
from uncore.execution.request import make_job
from uncore.study.whatif import whatif
from uncore_lab.validate.section import ReportPicture

HERE = Path(__file__).resolve().parent
DATA = HERE / "programs.json"
MACHINES = ("epyc7601x2", "graviton3", "x8180x2")
THREADS = (1, 2, 4, 8)
ProgramText = dict[str, str]


def described() -> list[ProgramText]:
    """Returns the programs of programs.toml, with their own properties and those of the source."""
    file = tomllib.loads((HERE / "programs.toml").read_text())
    return [
        {"file": "", "page": p["name"], **file["sources"][p["source"]], **p}
        for p in file["program"]
    ]


def measure(folder: Path) -> None:
    """Runs each program that is in the folder; the results of other programs stay unchanged."""
    for program in described():
        path = folder / program["name"]
        if not path.is_file():
            print(f"{program['page']}: not in {folder}")
            continue
        results = json.loads(DATA.read_text()) if DATA.is_file() else {}
        DATA.write_text(
            json.dumps(results | {program["page"]: _measured(path, program)}, indent=1) + "\n"
        )
        print(program["page"])


def _measured(path: Path, program: ProgramText) -> dict[str, Any]:
    run_options: dict[str, Any] = {"arguments": tuple(program["words"].split()), "seeds": (1,)}
    curves = {}
    for machine in MACHINES:
        points = uncore.run(machine, path, THREADS, **run_options).points
        curves[machine] = [round(point.elapsed_ps / 1e6, 1) for point in points]
    observed = uncore.run(MACHINES[0], path, THREADS[-1:], **run_options, observed=True).observed[0]
    costliest_object = max(observed.objects, key=lambda o: o.critical_ps)
    assert observed.path_ps  # a program that ends has a critical path
    costliest = {
        "object": costliest_object.name,
        "source": "/".join(costliest_object.source.split("/")[-2:]),
        "share": round(100 * costliest_object.critical_ps / observed.path_ps),
    }
    return {"us": curves, "costliest": costliest, "changes": _changes(path, run_options)}


def _changes(path: Path, run_options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the best change of each of two kinds: `line` (a bound that no machine reaches) and
    `distance`.
    """
    job = make_job(MACHINES[0], path, THREADS[-1:], **run_options)
    effects = whatif(MACHINES[0], str(path), job, only=("line", "distance")).effects
    best_by_kind = {effect.change.kind: effect for effect in reversed(effects)}
    return [
        {"change": effect.change.what, "percent": round(100 * effect.throughput)}
        for effect in best_by_kind.values()
    ]


def write(folder: Path) -> None:
    """Writes a page for each program, and a page that lists them."""
    folder.mkdir(parents=True)
    data = json.loads(DATA.read_text())
    rows = []
    for program in described():
        if result := data.get(program["page"]):
            (folder / f"{program['page']}.md").write_text(_page(program, result, folder))
            costliest = result["costliest"]
            name = f"[{program['title']}: {program['what']}]({program['page']}.md)"
            rows.append(
                [name, program["language"], f"`{costliest['source']}`", f"{costliest['share']} %"]
            )
    heads = ["program", "language", f"costliest line, {THREADS[-1]} threads", "of the time"]
    table = markdown.grid(heads, rows, [True, True, True, False])
    (folder / "README.md").write_text(f"# Programs of others\n\n{table}")


def _page(program: ProgramText, result: Mapping[str, Any], folder: Path) -> str:
    series = {
        m: [[n, us] for n, us in zip(THREADS, result["us"][m], strict=True)] for m in result["us"]
    }
    curve = Curves(series, program["what"], "threads", "time, us")
    costliest, max_threads = result["costliest"], THREADS[-1]
    argument_words = f" -- {program['words']}" if program["words"] else ""
    options = f"--threads 1,2..{max_threads} --lines{argument_words}"
    command = f"uncore run {MACHINES[0]} ./{program['name']} {options}"
    return "\n\n".join(
        [
            f"# {program['title']}: {program['what']}",
            "\n".join(
                ["```sh", program["get"], program["build"].format(**program), command, "```"]
            ),
            markdown.picture(ReportPicture(program["page"], "time by threads", [curve]), folder),
            f"With {max_threads} threads on {MACHINES[0]}, `{costliest['source']}`"
            f" (`{costliest['object']}`) is {costliest['share']} % of the critical path.",
            markdown.grid(
                ["change (`uncore whatif`)", "throughput"],
                [[c["change"], f"{c['percent']:+} %"] for c in result["changes"]],
                [True, False],
            ),
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    measure(parser.parse_args().folder)
