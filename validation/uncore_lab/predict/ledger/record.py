"""Puts predictions on record: `uncore predict --record`.

    record(names)      predicts them and writes today's page of the ledger; without names, anew what
                       is on it

A machine stands on the page of one day.  Until that day is over its prediction may be made anew;
afterwards it stands, however the model changes.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from uncore.drawing.progress import progress
from uncore.errors import UserError
from uncore.support.output_files import write_whole
from uncore.support.paths import CHECKOUT
from uncore_lab.figures import hardware as figures
from uncore_lab.predict.forecast import predicted
from uncore_lab.predict.ledger import LEDGER, Prediction, entries, read_day, seal

HEAD = """\
# Class medians in ns, [low, predicted, high], that were predicted on {} of machines that nobody
# here had measured.  Written by `uncore predict --record`, and never changed after that day.

seal = "{}"
"""


def record(names: Sequence[str], ledger: Path = LEDGER, day: str = "") -> None:
    today = day or datetime.now(UTC).date().isoformat()
    page = ledger / f"{today}.toml"
    known = read_day(page) if page.is_file() else {}
    chosen = list(names) or list(known)
    if not chosen:
        raise UserError(f"--record: nothing was recorded on {today} yet; name the machines")
    for name in chosen:
        _refuse_what_stands(name, today, ledger)
    commit = _commit()
    with progress(len(chosen), "predicting", "machines") as advance:
        for name in chosen:
            known[name] = _prediction(name, commit)
            advance(1)
    write_whole(page, text(today, known))


def _refuse_what_stands(name: str, today: str, ledger: Path) -> None:
    if name in figures.carried():
        raise UserError(
            f"--record {name}: it has been measured, so no prediction would be blind; see"
            f" uncore validate {name} --only prediction"
        )
    for entry in entries(ledger):
        if entry.machine == name and entry.date != today:
            raise UserError(
                f"--record {name}: on record since {entry.date}, and what is on record stands"
            )


def _prediction(name: str, commit: str) -> Prediction:
    found, home = predicted(name)
    classes = found.classes.values()
    return Prediction(
        commit=commit,
        home=home,
        kept=[one.name for one in classes if not one.lent],
        classes={
            one.name: (round(one.low, 1), round(one.ns, 1), round(one.high, 1)) for one in classes
        },
    )


def _commit() -> str:
    """What predicts: of a checkout whose model and machines are those of a commit."""
    try:
        run = ["git", "-C", str(CHECKOUT or "/"), "--no-optional-locks"]
        changed = _said([*run, "status", "--porcelain", "sim", "topologies", f":!{LEDGER}"])
        head = _said([*run, "rev-parse", "--short=7", "HEAD"])
    except (OSError, subprocess.CalledProcessError):
        raise UserError("--record: expected a checkout, whose commit goes on record") from None
    if changed:
        raise UserError(
            f"--record: {changed.splitlines()[0].split()[-1]} is not committed; commit it first:"
            " the commit goes on record"
        )
    return head


def _said(words: Sequence[str]) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def text(day: str, machines: Mapping[str, Prediction]) -> str:
    """A day's page."""
    lines = [HEAD.format(day, seal(machines))]
    for name, one in sorted(machines.items()):
        lines += [f"[machines.{name}]", f'commit  = "{one.commit}"']
        lines += [f'home    = "{one.home}"'] if one.home else []
        lines += [f"kept    = {msgspec.json.encode(one.kept).decode()}"] if one.kept else []
        lines.append(f"[machines.{name}.classes]")
        lines += [f"{label:<17} = {list(three)}" for label, three in one.classes.items()]
        lines.append("")
    return "\n".join(lines)
