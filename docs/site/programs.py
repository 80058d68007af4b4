"""Pages about programs of others: how to get one, its curve on three machines, the line that costs
most, and the gain of a change.

    write(folder)                              pages, from programs.toml and programs.json
    python -m docs.site.programs DIR           runs all that DIR has built: programs.json
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
Told = dict[str, str]


def described() -> list[Told]:
    """The programs, each with the properties that its source states for all."""
    file = tomllib.loads((HERE / "programs.toml").read_text())
    return [
        {"file": "", "page": p["name"], **file["sources"][p["source"]], **p}
        for p in file["program"]
    ]


def measure(folder: Path) -> None:
    """Runs each program that DIR has; results of the others stay as they are."""
    for told in described():
        path = folder / told["name"]
        if not path.is_file():
            print(f"{told['page']}: not in {folder}")
            continue
        known = json.loads(DATA.read_text()) if DATA.is_file() else {}
        DATA.write_text(json.dumps(known | {told["page"]: _measured(path, told)}, indent=1) + "\n")
        print(told["page"])


def _measured(path: Path, told: Told) -> dict[str, Any]:
    given: dict[str, Any] = {"arguments": tuple(told["words"].split()), "seeds": (1,)}
    curves = {}
    for machine in MACHINES:
        points = uncore.run(machine, path, THREADS, **given).points
        curves[machine] = [round(point.elapsed_ps / 1e6, 1) for point in points]
    seen = uncore.run(MACHINES[0], path, THREADS[-1:], **given, observed=True).observed[0]
    top = max(seen.objects, key=lambda o: o.critical_ps)
    assert seen.path_ps  # programs that end have one
    costliest = {
        "object": top.name,
        "source": "/".join(top.source.split("/")[-2:]),
        "share": round(100 * top.critical_ps / seen.path_ps),
    }
    return {"us": curves, "costliest": costliest, "changes": _changes(path, given)}


def _changes(path: Path, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The best change of two kinds: `line`, a bound that nobody can build, and `distance`."""
    job = make_job(MACHINES[0], path, THREADS[-1:], **given)
    effects = whatif(MACHINES[0], str(path), job, only=("line", "distance")).effects
    best = {effect.change.kind: effect for effect in reversed(effects)}
    return [
        {"change": effect.change.what, "percent": round(100 * effect.throughput)}
        for effect in best.values()
    ]


def write(folder: Path) -> None:
    """Writes a page for each program, and one that links to them."""
    folder.mkdir(parents=True)
    data = json.loads(DATA.read_text())
    rows = []
    for told in described():
        if known := data.get(told["page"]):
            (folder / f"{told['page']}.md").write_text(_page(told, known, folder))
            costliest = known["costliest"]
            name = f"[{told['title']}: {told['what']}]({told['page']}.md)"
            rows.append(
                [name, told["language"], f"`{costliest['source']}`", f"{costliest['share']} %"]
            )
    heads = ["program", "language", f"costliest line, {THREADS[-1]} threads", "of the time"]
    table = markdown.grid(heads, rows, [True, True, True, False])
    (folder / "README.md").write_text(f"# Programs of others\n\n{table}")


def _page(told: Told, known: Mapping[str, Any], folder: Path) -> str:
    series = {
        m: [[n, us] for n, us in zip(THREADS, known["us"][m], strict=True)] for m in known["us"]
    }
    curve = Curves(series, told["what"], "threads", "time, us")
    costliest, most = known["costliest"], THREADS[-1]
    words = f" -- {told['words']}" if told["words"] else ""
    command = f"uncore run {MACHINES[0]} ./{told['name']} --threads 1,2..{most} --lines{words}"
    return "\n\n".join(
        [
            f"# {told['title']}: {told['what']}",
            "\n".join(["```sh", told["get"], told["build"].format(**told), command, "```"]),
            markdown.picture(ReportPicture(told["page"], "time by threads", [curve]), folder),
            f"With {most} threads on {MACHINES[0]}, `{costliest['source']}`"
            f" (`{costliest['object']}`) is {costliest['share']} % of the critical path.",
            markdown.grid(
                ["change (`uncore whatif`)", "throughput"],
                [[c["change"], f"{c['percent']:+} %"] for c in known["changes"]],
                [True, False],
            ),
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    measure(parser.parse_args().folder)
