"""Does `uncore lines` name the lines that cost time, and say why?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from uncore.execution.rerun import observe
from uncore.report import c2c
from uncore.result import load, repeats
from uncore.result.observed import Line, Use

FALSE_SHARING = ("layout/false_sharing", "--threads", "4", "--set", "ops=500")


def saved(uncore, *arguments):
    assert uncore("run", *arguments, "--output", "r.json").status == 0
    return load(Path("r.json"))


def listed(uncore, *arguments):
    result = uncore("lines", "r.json", *arguments, "--by", "address", "--json")
    assert result.status == 0, result.err
    return json.loads(result.out)


def fields(rows):
    """Returns the row of the line that holds both fields; None if they are in different lines."""
    return next((row for row in rows if {"*count", "*limit"} <= set(row["holds"])), None)


def test_falsely_shared_fields_are_named_with_the_time_they_cost(uncore):
    """If each field has its own line, harts wait less than a fifteenth as long. `uncore lines`
    predicts about this.
    """
    saved(uncore, "epyc7601x2", *FALSE_SHARING)
    shared = fields(listed(uncore))
    users = {group["fields"][0]: group for group in shared["apart"]}
    assert users["*count"]["writers"] == users["*count"]["readers"] == [0]
    assert users["*limit"]["writers"] == [] and users["*limit"]["readers"] == [1, 2, 3]
    assert shared["needless_ps"] > 0.9 * shared["waited_ps"]
    writer = next(use for use in shared["uses"] if use["harts"] == [0] and use["needless"])
    assert writer["written"] and writer["needless"] > 0.9 * writer["misses"]
    output = uncore("lines", "r.json", "--by", "address").out
    assert "shared without need: *count (written by hart 0" in output
    assert "layout/false_sharing.c:" in output

    saved(uncore, "epyc7601x2", *FALSE_SHARING, "--set", "distance=64")
    rows = listed(uncore)
    assert fields(rows) is None
    separated = [row for row in rows if set(row["holds"]) & {"*count", "*limit"}]
    assert sum(row["waited_ps"] for row in separated) < shared["waited_ps"] / 15
    assert not any(row["apart"] for row in separated)


def test_miss_that_brings_a_new_value_does_not_count_as_needless(uncore):
    """All harts add to one counter, so every miss fetches a value that another hart has written."""
    saved(uncore, "epyc7601x2", "counter/atomic", "--threads", "4")
    rows = listed(uncore)
    counter = max(rows, key=lambda row: row["writes"])
    assert counter["misses"] > 100 and not counter["apart"]
    assert counter["needless"] < counter["misses"] / 50


@pytest.mark.parametrize("workload", ["lock/mcs", "counter/percpu", "layout/false_sharing"])
def test_sums_over_all_lines_equal_the_counts_of_the_result(uncore, workload):
    """The sums are taken over the listed lines and the row of all others. Observing the lines does
    not change the result. A search observes the median run of each thread count.
    """
    arguments = ("e52690x2", workload, "--threads", "2,12")
    plain = saved(uncore, *arguments)
    watched = saved(uncore, *arguments, "--lines")
    assert watched.result_hash == plain.result_hash and not plain.observed
    medians = [group.median for group in repeats(watched)]
    for point, observed in zip(medians, watched.observed, strict=True):
        assert observed == observe(plain, point.threads, point.seed)
        assert observed.transfers == point.transfers
        assert observed.total("invalidations") == point.invalidations
        assert observed.total("waited_ps") == observed.waited_ps > 0
        transfers = {line.address: sum(line.transfers.values()) for line in observed.lines}
        assert all(transfers[a] == n for a, n in point.lines if a in transfers)
        assert observed.total("reads") < point.instructions


def test_lines_refuses_a_result_whose_outcome_cannot_be_repeated(uncore):
    """The saved result was edited, so a new run cannot explain it."""
    saved(uncore, "bus:2", "lock/ticket", "--threads", "2", "--seed", "none")
    text = Path("r.json").read_text()
    result = load(Path("r.json"))
    changed = result.outcome.points[0].instructions + 1
    text = text.replace(f'"instructions": {changed - 1}', f'"instructions": {changed}')
    Path("r.json").write_text(text.replace(result.result_hash, ""))
    table = uncore("lines", "r.json")
    assert table.status == 2 and "comes out differently" in table.err


def test_lines_shows_the_selected_point_and_refuses_a_missing_point(uncore):
    saved(uncore, "bus:2", "lock/ticket", "--threads", "1,2")
    assert "1 threads" in uncore("lines", "r.json", "--threads", "1").out
    assert "the result has 1, 2" in uncore("lines", "r.json", "--threads", "3").err
    assert "--output" in uncore("run", "bus:2", "lock/ticket", "--lines").err


def objects(uncore, *arguments):
    return {row["object"]: row for row in json.loads(uncore("lines", "r.json", "--json").out)}


def test_elements_of_an_array_are_listed_as_one_object(uncore):
    """All nodes of the MCS queue are one row, although each hart spins on its own node."""
    saved(uncore, "epyc7601x2", "lock/mcs", "--threads", "16")
    rows = objects(uncore)
    node = rows["nodes[].granted"]
    assert node["lines"] == 16
    # The nodes and the data that the lock guards make up most of the critical path.
    assert node["critical_share"] > 0.3
    assert not any(name.startswith("nodes[1") for name in rows)
    assert "one operation every" in uncore("lines", "r.json").out


def test_times_are_printed_without_exponents(uncore):
    saved(uncore, "ccx:2x4", "lock/ticket", "--threads", "4", "--set", "hold=2us")
    out = uncore("lines", "r.json").out
    assert re.search(r"\b2\d{3} between waits", out.replace("\n", " "))


def test_waits_and_the_work_between_them_add_up_to_the_critical_path(uncore):
    """Handoffs follow each other without a gap, so the critical path is as long as the run."""
    arguments = ("--threads", "8", "--set", "ops=30", "--repeat", "3", "--lines")
    result = saved(uncore, "ccx:2x4", "lock/ticket", *arguments)
    for point, observed in zip(result.points, result.observed, strict=True):
        waited = sum(item.critical_ps for item in observed.objects)
        assert 0.8 * observed.path_ps < waited < observed.path_ps
        assert abs(observed.path_ps - point.elapsed_ps) < 0.02 * point.elapsed_ps


@pytest.mark.parametrize(
    "workload",
    ["lock/mcs", "lock/ticket", "counter/atomic", "counter/percpu", "refcount/atomic"],
)
def test_critical_paths_of_runs_by_duration_and_by_operations_have_about_equal_shares(
    uncore, workload
):
    shares = []
    for length in (("ops=400",), ("duration=50us", "unclocked=100")):
        arguments = [word for value in length for word in ("--set", value)]
        saved(uncore, "ccx:2x4", workload, "--threads", "8", *arguments, "--repeat", "1")
        shares.append({name: row["critical_share"] for name, row in objects(uncore).items()})
    counted, timed = shares
    for name in counted | timed:
        # A timed loop also reads the clock after some operations.
        assert timed.get(name, 0) == pytest.approx(counted.get(name, 0), abs=0.08), name


@pytest.mark.parametrize("length", ["ops=500", "duration=20us"])
def test_falsely_shared_line_is_on_the_critical_path(uncore, length):
    """Readers wait for a line because a hart that writes another field takes it away. The writer
    never waits.
    """
    arguments = ("ccx:2x4", *FALSE_SHARING[:3], "--set", length, "--repeat", "1")
    shared = saved(uncore, *arguments)
    first = next(iter(objects(uncore).values()))
    assert first["object"] == "*limit" and first["critical_share"] > 0.25
    separated = saved(uncore, *arguments, "--apart", "*count")
    assert separated.points[0].throughput > 1.3 * shared.points[0].throughput


def test_wait_that_overlaps_others_is_not_on_the_critical_path(uncore):
    """A hart that enqueues at an MCS lock fetches the tail while another hart holds the lock."""
    saved(uncore, "epyc7601x2", "lock/mcs", "--threads", "16")
    tail = objects(uncore)["lock->queue.tail"]
    assert tail["waited_ns"] > 50
    assert tail["critical_ns"] < 1


def test_private_work_has_no_waiting_on_its_critical_path(uncore):
    """Each hart waits only for the first access to each of its lines."""
    saved(uncore, "epyc7601x2", "counter/percpu", "--threads", "8", "--set", "ops=4000")
    assert sum(row["critical_share"] for row in objects(uncore).values()) < 0.02


def test_shared_lines_have_the_columns_of_perf(uncore):
    """Cores of two sockets add to one counter. No other line moves from one core to another."""
    arguments = ("counter/atomic", "--place", "0,1,64,65", "--threads", "4", "--set", "ops=1000")
    result = saved(uncore, "epyc7601x2", *arguments)
    rows = json.loads(uncore("lines", "r.json", "--format", "c2c", "--json").out)
    median_transfers = repeats(result)[0].median.transfers
    assert rows[0]["Hitm Total"] == rows[0]["LclHitm"] + rows[0]["RmtHitm"]
    assert rows[0]["RmtHitm"] > 0.8 * median_transfers["system"]
    output = uncore("lines", "r.json", "--format", "c2c").out
    assert "RmtHitm" in output


# Output of `perf c2c report --stdio`, written after its manual page: two cache lines, and the code
# that accessed each of them.
C2C = """\
=================================================
           Shared Data Cache Line Table
=================================================
#
#        ------------- Line -------------      Tot  ------- Load Hitm -------    Total    Total
# Index             Address  Node  PA cnt     Hitm    Total  LclHitm  RmtHitm  records    Loads
# .....  ..................  ....  ......  .......  .......  .......  .......  .......  .......
#
      0      0x55d0a3c41080     0    9834   75.00%      300      120      180     2210     1804
      1      0x55d0a3c410c0   N/A      12   25.00%      100       90       10      310      300

=================================================
      Shared Cache Line Distribution Pareto
=================================================
#
#        ----- HITM -----  ------- Store Refs ------  --------- Data address ---------
#   Num  RmtHitm  LclHitm   L1 Hit  L1 Miss      N/A              Offset  Node  PA cnt
  -------------------------------------------------------------
      0      180      120      406        0        0      0x55d0a3c41080
  -------------------------------------------------------------
          60.00%   40.00%  100.00%    0.00%    0.00%                 0x0     0       1  [.] add  {}
  -------------------------------------------------------------
      1       10       90        0        0        0      0x55d0a3c410c0
  -------------------------------------------------------------
         100.00%  100.00%    0.00%    0.00%    0.00%                 0x8     0       1  [.] b  b.c:7
"""


def test_lines_of_perf_are_matched_by_their_source_line(uncore):
    arguments = ("counter/atomic", "--place", "0,1,64,65", "--threads", "4", "--set", "ops=1000")
    saved(uncore, "epyc7601x2", *arguments)
    place = objects(uncore)["*counter"]["source"]
    Path("c2c.txt").write_text(C2C.format(f"/home/me/{Path(place).name}"))
    command = ("lines", "r.json", "--beside", "c2c.txt")
    first, second, *rest = json.loads(uncore(*command, "--json").out)
    assert (first["measured"], first["measured_remote"]) == (750_000, 600_000)
    assert first["symbol"] == "*counter" and first["at"] == Path(place).name
    (counted,) = json.loads(
        uncore("lines", "r.json", "--format", "c2c", "--json", "--top", "1").out
    )
    assert first["run"] == counted["Tot Hitm"]
    assert first["run_remote"] == counted["RmtHitm"] * 10**6 // counted["Hitm Total"]
    assert (second["measured_remote"], second["run"], second["at"]) == (100_000, None, "")
    assert all(row["address"] is None and row["run"] is not None for row in rest)
    assert "75 %" in uncore(*command).out
    Path("c2c.txt").write_text(C2C.format("other.c:1"))
    assert "was touched at a FILE:LINE of the run" in " ".join(uncore(*command).out.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "c2c.txt:1: expected the text of `perf c2c report --stdio`"),
        (C2C.replace("LclHitm", "LclPeer"), "c2c.txt:6: the table has no column 'LclHitm'"),
        (C2C.replace("      120      180 ", ""), "c2c.txt:9: '0 0x55d0a3c41080"),
    ],
)
def test_text_that_is_no_report_of_perf_is_refused_with_its_line_number(uncore, text, said):
    saved(uncore, "bus:2", "counter/atomic", "--threads", "2", "--set", "ops=4")
    Path("c2c.txt").write_text(text)
    outcome = uncore("lines", "r.json", "--beside", "c2c.txt")
    assert outcome.status == 2 and said in " ".join(outcome.err.split())


def test_columns_named_after_perf_are_sums_over_the_uses_of_a_line():
    """Three cores use a made-up line; two of these cores are near the same memory node."""

    def use(reads: int, writes: int, misses: int) -> Use:
        return Use(
            pc=0, function="", source="", kind=-1, harts=[0], reads=reads, writes=writes,
            misses=misses, needless=0, waited_ps=0, needless_ps=0, read=[], written=[],
        )  # fmt: skip

    line = Line(
        address=64,
        fields=[(0, 8, "a"), (8, 8, "b"), (16, 8, "a")],
        transfers={"memory": 7, "ccx data": 11, "system data": 2, "system": 13},
        taken=[(0, 1, 3), (2, 0, 5), (1, 2, 1)],
        invalidations=0,
        uses=[use(20, 0, 4), use(30, 10, 6), use(0, 5, 2)],
    )
    assert c2c.row(line, [0, 0, 1]) == {
        "Address": "0x40", "Symbol": "a, b",
        "Hitm Total": 9, "LclHitm": 3, "RmtHitm": 6,
        "Total records": 65, "Total Loads": 50, "Total Stores": 15,
        "L1Hit": 7, "L1Miss": 8, "L1": 46, "LclHit": 13, "Dram": 7,
    }  # fmt: skip


def test_lines_are_reported_if_the_compiler_has_split_a_variable(uncore):
    """The compiler keeps only some elements of `fields`, and keeps them in several places."""
    saved(uncore, "ccx:2x2", "layout/hot_structure", "--threads", "2", "--set", "ops=20")
    assert objects(uncore)
