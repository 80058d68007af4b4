"""Makes the tables of a trace, and adds names: objects for addresses, source lines for
instructions, and cells of the client table for changes of state.

    named_tables(job, run, fields) -> tables        returns all events that the run recorded
    in_window(tables, start, until, lines)          removes transactions outside the window
    of_harts(tables, harts, cores)                  keeps events of these harts or their cores
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

TIME_NOT_REACHED = -1  # stands for a time that was not reached before the run ended
# table (kind of event) -> the column with the time of the event
TIME_COLUMNS = {
    "messages": "sent",
    "transactions": "request",
    "states": "at",
    "holds": "at",
    "turns": "at",
    "accesses": "at",
    "harts": "at",
}


def named_tables(job: Job, run: Run, fields: Fields) -> dict[str, DataFrame]:
    import polars  # noqa: PLC0415 (slow to load)

    columns = trace.columns(job, run) | {"transactions": native.log(job, run)}
    _add_routes(columns["messages"], columns.pop("crossings"))
    _add_cells(job, columns["states"])
    _add_names(job, fields, columns)
    frames = {name: polars.DataFrame(dict(table)) for name, table in columns.items()}
    ordered = {
        name: frames[name].sort(when, maintain_order=True) for name, when in TIME_COLUMNS.items()
    }
    return {**frames, **ordered}


def _add_routes(messages: dict[str, Any], crossings: Mapping[str, Any]) -> None:
    """Adds to each message the links that it crossed, when it reached each of them, and how long it
    waited there.
    """
    message_count = len(messages["kind"])
    links: list[list[int]] = [[] for _ in range(message_count)]
    head_times: list[list[int]] = [[] for _ in range(message_count)]
    waits: list[list[int]] = [[] for _ in range(message_count)]
    lists = (crossings[key].tolist() for key in ("message", "link", "head", "start"))
    for message, link, head, start in zip(*lists, strict=True):
        links[message].append(link)
        head_times[message].append(head)
        waits[message].append(start - head)
    waited = [sum(times) for times in waits]
    messages |= {"links": links, "met": head_times, "waits": waits, "waited": waited}


def _add_cells(job: Job, states: dict[str, Any]) -> None:
    """Adds to each change of state the text of the cell of the client table that caused it."""
    table = protocols.of(job.machine.protocol, job.machine.tables).client
    cells = zip(states["before"], states["event"], strict=True)
    states["cell"] = [table[cell].text for cell in cells]


def _add_names(job: Job, fields: Fields, columns: dict[str, dict[str, Any]]) -> None:
    source: Callable[[int], str] = cache(lambda pc: job.program.source_line(pc) or "")
    object_at: Callable[[int], str] = cache(lambda address: fields.at(address).name)
    accesses, harts = columns["accesses"], columns["harts"]
    accesses["object"] = [object_at(address) for address in accesses["address"].tolist()]
    line = job.machine.line
    accesses["line"] = accesses["address"] // line * line
    for table in (accesses, harts):
        table["source"] = [source(pc) for pc in table["pc"].tolist()]


def in_window(
    tables: Mapping[str, DataFrame], start: int, until: int, lines: Collection[int]
) -> dict[str, DataFrame]:
    """Removes transactions outside the window or about other lines. Only transactions need this,
    because their log covers the whole run.
    """
    import polars  # noqa: PLC0415 (slow to load)

    in_window = (polars.col("close") >= start) & (polars.col("request") <= until)
    condition = in_window & polars.col("line").is_in(sorted(lines)) if lines else in_window
    return {**tables, "transactions": tables["transactions"].filter(condition)}


def of_harts(
    tables: Mapping[str, DataFrame], harts: Sequence[int], cores: Collection[int]
) -> Mapping[str, DataFrame]:
    import polars  # noqa: PLC0415 (slow to load)

    if not harts:
        return tables
    harts_by_column = {"hart": harts, "agent": sorted(cores), "requester": sorted(cores)}
    agent_columns = {"messages": ("sender", "receiver", "requester"), "turns": ("requester",)}
    selected = {}
    for name, table in tables.items():
        keys = agent_columns.get(name) or [
            next(key for key in harts_by_column if key in table.columns)
        ]
        conditions = [
            polars.col(key).is_in(harts_by_column["hart" if key == "hart" else "agent"])
            for key in keys
        ]
        selected[name] = table.filter(polars.any_horizontal(conditions))
    return selected
