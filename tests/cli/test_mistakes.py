"""Does every mistake of a user give one message and exit status 2, and leave no file behind?"""

from __future__ import annotations

from pathlib import Path

import pytest

RUN = ("run", "ccx:2x2", "lock/ticket", "--engine", "toy")

MISTAKES = {
    "no command of that name": (("rnu", "ccx:2x2"), "rnu"),
    "a command by another name": (("report", "r.json"), "that is uncore run --report FILE.html"),
    "an option that does not exist": ((*RUN, "--thread", "2"), "--thread"),
    "an unknown machine": (("run", "ccz:2x2", *RUN[2:]), "ccz:2x2"),
    "an unknown workload": (("run", "ccx:2x2", "lock/tickt"), "lock/ticket"),
    "an unknown engine": ((*RUN[:3], "--engine", "toi"), "Did you mean 'toy'"),
    "too few words": (("run", "ccx:2x2"), "a machine and a workload"),
    "more threads than harts": ((*RUN, "--threads", "5"), "room for 4 threads"),
    "threads that are no number": ((*RUN, "--threads", "1,two"), "'two'"),
    "no threads at all": ((*RUN, "--threads", "0"), "'0'"),
    "a range that runs downwards": ((*RUN, "--threads", "4..2"), "2..4"),
    "an unknown placement": ((*RUN, "--place", "scater"), "Did you mean 'scatter'"),
    "a hart that does not exist": ((*RUN, "--place", "0-9"), "harts 0 to 3"),
    "a hart beyond the last": ((*RUN, "--place", "9"), "harts 0 to 3, and no 9"),
    "harts downwards": ((*RUN, "--place", "3-1"), "write 1-3"),
    "a machine too large": (("run", "bus:100000", "lock/ticket"), "at most 4096 harts"),
    "a word too many": (("list", "engines"), "uncore list takes no 'engines' here"),
    "a word too few": (("show",), "uncore show needs WHAT"),
    "workloads without a machine": (("run", "lock/tas", "lock/mcs"), "needs a machine"),
    "an axis that does not exist": ((*RUN, "--plot", "p.png", "--x", "hodl"), "no such axis"),
    "one side of a grid": ((*RUN, "--plot", "p.png", "--heat", "hold"), "expected two options"),
    "a figure that does not exist": ((*RUN, "--plot", "p.png", "--y", "p98"), "'p99'"),
    "a picture without a file": ((*RUN, "--x", "threads"), "write --plot"),
    "a hart twice": ((*RUN, "--place", "1,1"), "hart 1"),
    "a home that does not exist": ((*RUN, "--home", "node99"), "node99"),
    "an unknown home policy": ((*RUN, "--home", "interleaf"), "Did you mean 'interleave'"),
    "a parameter without a value": ((*RUN, "--set", "hold"), "expected NAME=VALUE"),
    "a parameter given twice": ((*RUN, "--set", "hold=1ns", "--set", "hold=2ns"), "twice"),
    "a parameter that does not exist": ((*RUN, "--set", "hodl=1ns"), "hold"),
    "machines of proofs that do not exist": (
        ("check", "msi", "--machine", "two-lines,2-core"),
        "'2-core'; write some of 2-cores, 3-cores, 2+1-cores, few-pointers, far-atomics, two-lines,"
        " random (--all has more). Did you mean '2-cores'?",
    ),
    "machines of proofs where nothing is proved": (
        ("check", "msi", "--machine", "2-cores", "--print"),
        "neither --print nor --mutants",
    ),
    "an unknown kind of result file": ((*RUN, "--output", "r.xml"), ".json, .parquet"),
    "a result that is not there": (("run", "--again", "gone.json"), "gone.json"),
    "other words beside --again": (
        (*RUN, "--again", "r.json"),
        "only --cores and limits such as --max-time go with it",
    ),
    "fewer than no cores": ((*RUN, "--cores=-1"), "--cores"),
    "a sample without pairs": (("matrix", "bus:4", "--sample", "1"), "two harts or more"),
    "no matrix in the folder": (("validate", "--matrices", "/"), "no file NAME.csv"),
    "a picture no program can draw": (("demo", "--plot", "p.foo"), ".png, .svg, .pdf"),
    "one log of two runs": ((*RUN[:2], "bus:4", *RUN[2:], "--log", "l.parquet"), "one machine"),
    "an unknown kind of log": ((*RUN, "--log", "log.csv"), ".parquet"),
    "an observer the engine has not": ((*RUN, "--log", "log.parquet"), "write native or reference"),
    "an engine that is not installed": (RUN, "install toys"),
    "too much for a slow engine": (
        ("run", "mesh:16x8", "lock/ticket", "--threads", "17", "--engine", "reference"),
        "at most 16, or --slow",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_gives_one_message_and_writes_no_file(uncore, monkeypatch, mistake):
    arguments, expected = MISTAKES[mistake]
    if "not installed" in mistake:
        monkeypatch.setenv("TOY_MISSING", "install toys")
    run = uncore(*arguments)
    assert run.status == 2
    assert expected in run.err
    assert run.err.startswith("uncore: ") and "Traceback" not in run.err
    assert run.out == ""
    assert not list(Path().iterdir())
