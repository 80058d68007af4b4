"""Does a trace agree with the log, the outcome, the routes and the tables of the protocol?"""

import csv
import shutil
import subprocess
from collections import Counter
from itertools import product

import polars
import pytest
from msgspec import convert

from uncore import engine
from uncore.engine import ignore_progress, native
from uncore.engine.outcome import percentiles
from uncore.execution.request import make_job
from uncore.program import abi
from uncore.protocol.table_shapes import PROTOCOLS
from uncore.result import canonical
from uncore.result.schema import Point
from uncore.topology.route import Routes
from uncore.trace import Window, files, perfetto, record
from uncore.trace.named_tables import TIME_NOT_REACHED
from uncore.trace.places import Places
from uncore.trace.words import size_of


def job(machine="ccx:2x4", workload="lock/ticket", threads=8, with_=None, **set_):
    given = set_ or {"ops": 3}
    made = make_job(machine, workload, threads, parameters=given, overrides=with_ or {}, seeds=(1,))
    return next(made.points())


@pytest.fixture(scope="module", params=PROTOCOLS)
def traced(request):
    return record(job(with_={"protocol": request.param}), Window())


def test_tracing_does_not_change_the_outcome_of_a_run(traced):
    plain = engine.run(traced.job, frozenset())
    plain.pop("observed")
    assert canonical(convert(traced.point, Point)) == canonical(convert(plain, Point))


def test_trace_contains_every_message_of_the_run(traced):
    run = native.start(traced.job)
    while run.step(10**6, 10**9):
        pass
    assert len(traced.tables["messages"]) == run.work()["messages"]


def test_message_takes_the_time_of_its_route_and_of_its_waits(traced):
    machine, checked = traced.job.machine, 0
    routes = Routes(machine)
    stops = [*machine.core_stops]
    many = {machine.cores + n: resolver.slices for n, resolver in enumerate(machine.resolvers)}
    memories = [memory.stop for memory in machine.memories]

    def seats(agent):
        if agent < machine.cores:
            return [stops[agent]]
        first = machine.cores + len(machine.resolvers)
        return many[agent] if agent < first else [memories[agent - first]]

    for row in traced.tables["messages"].iter_rows(named=True):
        if row["arrived"] == TIME_NOT_REACHED or row["hart"] != TIME_NOT_REACHED:
            continue
        ways = product(seats(row["sender"]), seats(row["receiver"]))
        took = {routes.message(size_of(row), *way) for way in ways}
        assert row["arrived"] - row["sent"] - row["waited"] in took, row
        checked += 1
    assert checked > 500


@pytest.mark.parametrize("machine", ["ring:8", "mesh:3x3"])
def test_a_message_takes_the_links_of_its_lines_route(machine):
    """F1.1: the trace contains links that have a channel, and each line always takes the same one
    of several equal routes.
    """
    made = job(machine, with_={"routes": "hashed", "system.join.width": "8B/ns"})
    places, taken = Places(made), set()
    for row in record(made, Window()).tables["messages"].iter_rows(named=True):
        if row["arrived"] == TIME_NOT_REACHED:
            continue
        line = max(row["line"], 0)
        ends = [places.stop(row[agent], line) for agent in ("sender", "receiver")]
        path = [n for n in places.path(*ends, line) if made.machine.links[n].channel >= 0]
        assert row["links"] == path
        taken.add((*ends, *path))
    assert len(taken) > len({way[:2] for way in taken})


FIRST, LINE = 0x8000_0000, 64


@pytest.mark.parametrize(("machine", "slices"), [("i76700k", 4), ("r7900x", 6), ("skylake24", 24)])
def test_every_slice_is_equally_likely_to_own_a_line(machine, slices):
    """V10: a line belongs to another slice with each seed; with one seed, lines are distributed
    over slices as in lockstep.
    """
    made = make_job(machine, "lock/ticket", (1,), seeds=range(200 * slices))
    owner, lines = made.machine.cores, [FIRST + LINE * n for n in range(100 * slices)]
    of_seeds = [Places(made.at(1, seed)) for seed in made.seeds]
    owned = Counter(places.stop(owner, lines[7]) for places in of_seeds)
    assert len(owned) == slices and all(abs(n - 200) < 4 * 200**0.5 for n in owned.values())
    for places in (Places(made.at(1)), *of_seeds[:3]):
        together = Counter(places.stop(owner, line) for line in lines)
        assert len(together) == slices and all(abs(n - 100) <= 8 for n in together.values())


def test_copies_change_state_as_the_client_table_says(traced):
    state = {}
    for row in traced.tables["states"].iter_rows(named=True):
        key = row["agent"], row["line"]
        assert state.get(key, "I") == row["before"], row
        state[key] = row["after"]
        assert not row["cell"].startswith("!")


def test_requester_has_the_right_that_the_log_names_when_its_data_come(traced):
    came = {
        (row["agent"], row["line"], row["at"]): row
        for row in traced.tables["states"].iter_rows(named=True)
        if row["event"].startswith("Data") or row["event"] == "Grant"
    }
    cores, checked = traced.job.machine.cores, 0
    for row in traced.tables["transactions"].iter_rows(named=True):
        if row["requester"] >= cores or row["op"] == "Put":
            continue
        right = came[row["requester"], row["line"], row["data"]]
        assert right["event"] in (f"Data{row['right']}", "Grant")
        assert right["after"] in (row["right"], "IM")  # an upgrade that lost its copy is repeated
        checked += 1
    assert checked > 100


def test_each_read_returns_the_value_last_written(traced):
    holds_its_values(traced)


def test_trace_marks_stores_that_leave_the_buffer_out_of_order():
    holds_its_values(record(job("weak:4", threads=4), Window()))


def holds_its_values(trace):
    """Checks that each access reads the bytes that were last written to its address."""
    last = {}
    accesses = trace.tables["accesses"]
    for row in accesses.sort("at", maintain_order=True).iter_rows(named=True):
        key = row["address"], row["size"]
        if key in last:
            assert row["found"] == last[key], row
        last[key] = row["left"] & ((1 << 8 * row["size"]) - 1)


def test_traced_operations_take_as_long_as_the_result_says(traced):
    """The percentiles are those of latencies rounded to six bits (observe/latencies.hh)."""
    took = [operation.mean_ps for operation in traced.operations for _ in range(operation.batch)]
    assert percentiles(sorted(Counter(map(rounded, took)).items())) == traced.point["latency"]
    assert len(took) == traced.point["ops"] > 20


def rounded(latency):
    low = max(0, latency.bit_length() - 6)
    return latency >> low << low


def test_trace_window_equals_that_part_of_the_whole_trace():
    whole = record(job(), Window())
    start, until = 10**6, 2 * 10**6
    window = record(job(), Window(start, until))
    for name, when in (("messages", "sent"), ("states", "at"), ("accesses", "at"), ("harts", "at")):
        expected = whole.tables[name].filter(polars.col(when).is_between(start, until))
        assert window.tables[name].equals(expected) and len(expected), name
    before = whole.tables["states"].filter(polars.col("at") < start)
    last = before.group_by("agent", "line").last().filter(polars.col("after") != "I")
    held = last.select("agent", "line", polars.col("after").alias("state"))
    assert window.tables["held"].sort("line", "agent").equals(held.sort("line", "agent"))


def test_trace_selects_a_line_by_the_name_of_an_object():
    trace = record(job(), Window(lines=("lock->ticket.served",)))
    assert [trace.name(line) for line in trace.lines] == ["lock->ticket.next, lock->ticket.served"]
    assert set(trace.tables["transactions"]["line"]) == set(trace.lines)


def test_window_around_the_slowest_operation_is_a_fifth_longer_than_this_operation():
    longest = max(operation.mean_ps for operation in record(job(), Window()).operations)
    trace = record(job(), Window(around="slowest"))
    assert trace.window.until - trace.window.start == pytest.approx(1.2 * longest, rel=0.01)


def test_trace_of_one_hart_keeps_only_its_accesses_and_messages():
    trace = record(job(), Window(harts=(3,)))
    assert set(trace.tables["accesses"]["hart"]) == {3}
    ends = trace.tables["messages"].select("sender", "receiver", "requester")
    assert all(3 in row for row in ends.iter_rows())


def test_interrupts_are_in_the_trace():
    trace = record(job(workload="ipi/broadcast", threads=4, rounds=3), Window())
    writes = trace.tables["messages"].filter(polars.col("kind") == "write")
    assert len(writes) and set(writes["hart"]) <= set(range(4))
    assert {"interrupted", "traps", "returns"} <= set(trace.tables["harts"]["what"])


def test_written_table_of_events_is_read_back_unchanged(tmp_path):
    trace = record(job(), Window())
    (tmp_path / "t.parquet").write_bytes(files.table(trace))
    table = polars.read_parquet(tmp_path / "t.parquet")
    assert table["time"].is_sorted()
    counts = dict(table.group_by("table").len().iter_rows())
    assert counts == {n: len(t) for n, t in trace.tables.items() if len(t)}


def decoded(trace):
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    return Trace.FromString(perfetto.trace(trace)).packet


def test_perfetto_counts_the_messages_and_operations_of_the_result():
    trace = record(job(), Window())
    packets = decoded(trace)
    events = [packet.track_event for packet in packets if packet.HasField("track_event")]
    sent = {e.flow_ids[0] for e in events if "sent" in e.categories}
    come = {e.terminating_flow_ids[0] for e in events if "arrived" in e.categories}
    messages = trace.tables["messages"]
    assert len(sent) == len(messages)
    assert come <= sent and len(come) == (messages["arrived"] != TIME_NOT_REACHED).sum()
    took = slices(packets, "operation")
    assert sorted(took) == sorted(operation.end - operation.begin for operation in trace.operations)


def slices(packets, category):
    """Returns the duration of each slice. Perfetto sorts events by time, so the slices of a track
    must not overlap: if two were open, the end of one would close the other.
    """
    tracks = {p.track_descriptor.uuid for p in packets if p.HasField("track_descriptor")}
    open_, closed = {}, []
    for packet in sorted(packets, key=lambda packet_: packet_.timestamp):
        event = packet.track_event
        assert not packet.HasField("track_event") or event.track_uuid in tracks
        if event.type == event.TYPE_SLICE_BEGIN:
            open_.setdefault(event.track_uuid, []).append((packet.timestamp, event))
        elif event.type == event.TYPE_SLICE_END:
            begun, first = open_[event.track_uuid].pop()
            assert packet.timestamp == begun or not open_[event.track_uuid], first
            if category in first.categories:
                closed.append(packet.timestamp - begun)
    assert not any(open_.values())
    return closed


P99 = """
with marks as (
  select hart, time, value // 72057594037927936 as code from events
  where "table" = 'harts' and what = 'marks'),
ends as (
  select code, time - lag(time) over (partition by hart order by time) as took from marks
  where code in ({codes}))
select quantile_disc(took, 0.99) as p99, count(*) as many from ends where code = {op}
"""


def test_sql_over_128_harts_gives_the_messages_and_the_p99_of_the_result(tmp_path):
    trace = record(job("epyc7601x2", "lock/mcs", 128, ops=2), Window())
    (tmp_path / "t.parquet").write_bytes(files.table(trace))
    sql = polars.SQLContext(events=polars.read_parquet(tmp_path / "t.parquet"), eager=True)
    counts = dict(sql.execute('select "table", count(*) from events group by "table"').iter_rows())
    run = native.start(trace.job)
    native.run_to_end(run, ignore_progress)
    assert counts["messages"] == run.work()["messages"]
    assert counts["transactions"] == trace.point["transactions"]
    op = abi.CONSTANTS["UC_MARK_OP"]
    codes = [op, *(abi.CONSTANTS[f"UC_MARK_{name}"] for name in ("START", "ROI_ON", "ROI_OFF"))]
    arguments = P99.format(op=op, codes=", ".join(map(str, codes)))
    p99, many = sql.execute(arguments).row(0)
    assert many == trace.point["ops"]
    assert trace.point["latency"]["p99"] <= p99 < trace.point["latency"]["p99"] * (1 + 1 / 32)


ASKED = """
select
  (select count(*) from slice where category = 'sent') as messages,
  (select count(*) from flow) as flows,
  (select count(*) from slice where category = 'transaction') as transactions,
  (select count(*) from slice where category = 'crossing') as crossings,
  (select sum(value) from stats where severity in ('error', 'data_loss')) as faults,
  (select count(*) from slice where category = 'operation') as ops,
  (select dur from slice where category = 'operation' order by dur limit 1 offset {p99}) as p99
"""


@pytest.mark.long
def test_perfettos_trace_processor_gives_the_messages_and_the_p99_of_the_result(tmp_path):
    shell = shutil.which("trace_processor_shell")
    if not shell:
        pytest.skip("no trace_processor_shell here: perfetto.dev says how it is built")
    trace = record(job("epyc7601x2", "lock/mcs", 128, ops=2), Window())
    (tmp_path / "t.pftrace").write_bytes(perfetto.trace(trace))
    ops, work = trace.point["ops"], native.start(trace.job)
    native.run_to_end(work, ignore_progress)
    (tmp_path / "asked.sql").write_text(ASKED.format(p99=(ops * 99 + 99) // 100 - 1))
    command = [shell, "query", "-f", tmp_path / "asked.sql", tmp_path / "t.pftrace"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (row,) = csv.DictReader(output.strip().splitlines())
    values = {name: int(value) for name, value in row.items()}
    assert rounded(values.pop("p99")) == trace.point["latency"]["p99"]
    sent, crossed = work.work()["messages"], work.work()["crossings"]
    assert values == {
        **{"messages": sent, "flows": sent, "crossings": crossed, "faults": 0},
        **{"transactions": trace.point["transactions"], "ops": ops},
    }
