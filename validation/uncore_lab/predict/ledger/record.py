"""Puts predictions on record: `uncore predict --record`.

    record(names, reason)      predicts these machines and writes today's file of the ledger;
                               without names, predicts the machines in today's file again

A prediction may be replaced until its day is over; after that it never changes.  The file of a
later day may have another prediction of the same machine if a reason is given.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import UNSET

from uncore.drawing.progress import progress
from uncore.errors import UserError
from uncore.support.output_files import write_whole
from uncore.support.paths import CHECKOUT
from uncore_lab.figures import hardware as figures
from uncore_lab.predict.forecast import predicted
from uncore_lab.predict.ledger import (
    LEDGER,
    RecordedDay,
    RecordedPrediction,
    entries,
    read_day,
    seal,
)
from uncore_lab.predict.ledger.rates import rates

LEDGER_HEAD = """\
# Class medians in ns, [low, predicted, high], that were predicted on {} of machines that nobody
# here had measured.  Written by `uncore predict --record`, and never changed after that day.

seal = "{}"
"""


def record(
    names: Sequence[str],
    reason: str = "",
    threads: Sequence[int] = (),
    *,
    ledger: Path = LEDGER,
    day: str = "",
) -> None:
    """Records predictions. `threads` are thread counts at which contended atomics and locks are
    also predicted.
    """
    today = day or datetime.now(UTC).date().isoformat()
    page = ledger / f"{today}.toml"
    written = read_day(page) if page.is_file() else RecordedDay("", {})
    machine_names = list(names) or list(written.machines)
    if not machine_names:
        raise UserError(f"--record: nothing was recorded on {today} yet; name the machines")
    reasons = written.reasons | _reasons(machine_names, reason, today, ledger, written)
    commit, predictions = _commit(), dict(written.machines)
    with progress(len(machine_names), "predicting", "machines") as advance:
        for name in machine_names:
            predictions[name] = _prediction(
                name, commit, threads or _thread_counts_of_rates(written, name)
            )
            advance(1)
    write_whole(page, text(today, predictions, reasons))


def _reasons(
    names: Sequence[str], reason: str, today: str, ledger: Path, written: RecordedDay
) -> dict[str, str]:
    """Returns, for each machine predicted on an earlier day, the reason (--reason) for another
    prediction.
    """
    days = {entry.machine: entry.date for entry in entries(ledger) if entry.date != today}
    for name in names:
        if name in figures.machines_with_figures():
            raise UserError(
                f"--record {name}: it has been measured, so no prediction would be blind; see"
                f" uncore validate {name} --only prediction"
            )
        if name in days and not (reason or name in written.reasons):
            raise UserError(
                f"--record {name}: on record since {days[name]}, and what is on record stands;"
                " with --reason TEXT today's prediction is sealed beside it"
            )
    return {name: reason for name in names if reason and name in days}


def _thread_counts_of_rates(written: RecordedDay, name: str) -> Sequence[int]:
    """Returns the thread counts of the machine's rates in today's file."""
    prediction = written.machines.get(name)
    return prediction.rates.threads if prediction and prediction.rates else ()


def _prediction(name: str, commit: str, threads: Sequence[int]) -> RecordedPrediction:
    forecast, home = predicted(name)
    classes = forecast.classes.values()
    return RecordedPrediction(
        commit=commit,
        home=home,
        rates=rates(name, threads) if threads else UNSET,
        kept=[median.name for median in classes if not median.lent],
        classes={
            median.name: (round(median.low, 1), round(median.ns, 1), round(median.high, 1))
            for median in classes
        },
    )


def _commit() -> str:
    """Returns the short hash of the checked-out commit. Raises UserError if a file of the model or
    of a machine has uncommitted changes.
    """
    try:
        run = ["git", "-C", str(CHECKOUT or "/"), "--no-optional-locks"]
        changed = _output_of([*run, "status", "--porcelain", "sim", "topologies", f":!{LEDGER}"])
        head = _output_of([*run, "rev-parse", "--short=7", "HEAD"])
    except (OSError, subprocess.CalledProcessError):
        raise UserError("--record: expected a checkout, whose commit goes on record") from None
    if changed:
        raise UserError(
            f"--record: {changed.splitlines()[0].split()[-1]} is not committed; commit it first:"
            " the commit goes on record"
        )
    return head


def _output_of(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def text(
    day: str, machines: Mapping[str, RecordedPrediction], reasons: Mapping[str, str] | None = None
) -> str:
    """Returns the text of a day's file."""
    lines = [LEDGER_HEAD.format(day, seal(machines, reasons or {}))]
    if reasons:
        lines.append("[reasons]")
        lines += [f"{name} = {_quoted(why)}" for name, why in sorted(reasons.items())]
        lines.append("")
    for name, prediction in sorted(machines.items()):
        lines += [f"[machines.{name}]", f'commit  = "{prediction.commit}"']
        lines += [f'home    = "{prediction.home}"'] if prediction.home else []
        lines += [f"kept    = {_quoted(prediction.kept)}"] if prediction.kept else []
        lines.append(f"[machines.{name}.classes]")
        lines += [f"{label:<17} = {list(three)}" for label, three in prediction.classes.items()]
        if prediction.rates:
            lines += [f"[machines.{name}.rates]", f"threads = {prediction.rates.threads}"]
            lines.append(f"[machines.{name}.rates.millions]")
            for workload, row in prediction.rates.millions.items():
                lines.append(f"{_quoted(workload)} = {list(map(list, row))}")
        lines.append("")
    return "\n".join(lines)


def _quoted(value: str | list[str]) -> str:
    return msgspec.json.encode(value).decode()
