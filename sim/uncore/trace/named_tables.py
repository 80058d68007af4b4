"""The tables of a trace, with names: of objects at addresses, of source lines at instructions, of
the reason that a cell of the client table states.

    named(job, run, fields) -> tables      of all that the run was asked for
    of_harts(tables, harts, cores)         what these harts, or their cores, took part in
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from uncore.engine import native
from uncore.engine.native import trace
from uncore.program.fields import Fields
from uncore.protocol import tables as protocols

if TYPE_CHECKING:
    from polars import DataFrame

    from uncore._native import Run
    from uncore.job import Job

NOT = -1  # a time that has not come
# Kind of event -> the column that says when it happened.
WHEN = {
    "messages": "sent",
    "transactions": "request",
    "states": "at",
    "holds": "at",
    "turns": "at",
    "accesses": "at",
    "harts": "at",
}


def named(job: Job, run: Run, fields: Fields) -> dict[str, DataFrame]:
    import polars  # noqa: PLC0415 (slow to load)

    columns = trace.columns(job, run) | {"transactions": native.log(job, run)}
    _add_ways(columns["messages"], columns.pop("crossings"))
    _add_cells(job, columns["states"])
    _add_names(job, fields, columns)
    frames = {name: polars.DataFrame(dict(table)) for name, table in columns.items()}
    ordered = {name: frames[name].sort(when, maintain_order=True) for name, when in WHEN.items()}
    return {**frames, **ordered}


def _add_ways(messages: dict[str, Any], crossings: Mapping[str, Any]) -> None:
    """The channels that each message crossed, when it met each and how long it waited for it."""
    many = len(messages["kind"])
    links: list[list[int]] = [[] for _ in range(many)]
    met: list[list[int]] = [[] for _ in range(many)]
    waits: list[list[int]] = [[] for _ in range(many)]
    named = (crossings[key].tolist() for key in ("message", "link", "head", "start"))
    for message, link, head, start in zip(*named, strict=True):
        links[message].append(link)
        met[message].append(head)
        waits[message].append(start - head)
    waited = [sum(each) for each in waits]
    messages |= {"links": links, "met": met, "waits": waits, "waited": waited}


def _add_cells(job: Job, states: dict[str, Any]) -> None:
    """The cell of the client table that each copy went through, as it is written."""
    table = protocols.of(job.machine.protocol, job.machine.tables).client
    cells = zip(states["before"], states["event"], strict=True)
    states["cell"] = [table[cell].text for cell in cells]


def _add_names(job: Job, fields: Fields, columns: dict[str, dict[str, Any]]) -> None:
    source: Callable[[int], str] = cache(lambda pc: job.program.source_line(pc) or "")
    part: Callable[[int], str] = cache(lambda address: fields.at(address).name)
    accesses, harts = columns["accesses"], columns["harts"]
    accesses["object"] = [part(address) for address in accesses["address"].tolist()]
    line = job.machine.line
    accesses["line"] = accesses["address"] // line * line
    for table in (accesses, harts):
        table["source"] = [source(pc) for pc in table["pc"].tolist()]


def within(
    tables: Mapping[str, DataFrame], start: int, until: int, lines: Collection[int]
) -> dict[str, DataFrame]:
    """Without the transactions that are not of the window: the log has all of the run."""
    import polars  # noqa: PLC0415 (slow to load)

    then = (polars.col("close") >= start) & (polars.col("request") <= until)
    condition = then & polars.col("line").is_in(sorted(lines)) if lines else then
    return {**tables, "transactions": tables["transactions"].filter(condition)}


def of_harts(
    tables: Mapping[str, DataFrame], harts: Sequence[int], cores: Collection[int]
) -> Mapping[str, DataFrame]:
    import polars  # noqa: PLC0415 (slow to load)

    if not harts:
        return tables
    mine = {"hart": harts, "agent": sorted(cores), "requester": sorted(cores)}
    ends = {"messages": ("sender", "receiver", "requester"), "turns": ("requester",)}
    selected = {}
    for name, table in tables.items():
        keys = ends.get(name) or [next(key for key in mine if key in table.columns)]
        conditions = [
            polars.col(key).is_in(mine["hart" if key == "hart" else "agent"]) for key in keys
        ]
        selected[name] = table.filter(polars.any_horizontal(conditions))
    return selected
