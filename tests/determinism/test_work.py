"""Does a transaction take at most as much work as recorded in benchmarks/counts.toml?

These are counts, not times, and they are the same on every host, so a loss of a few per cent is
visible. After an intended slowdown, run `python -m benchmarks.counts --renew`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from benchmarks import counts
from tests.support import clang


@pytest.mark.parametrize("row", counts.ROWS, ids=lambda row: row.name)
def test_events_and_bytes_are_at_most_the_recorded_baseline(row: counts.Row) -> None:
    assert set(counts.kept_counts()[row.name]) >= {"events", "bytes"} or row.per == "instruction"
    assert not list(counts.worse_counts(row, counts.counted(row)))


def test_module_that_valgrind_cannot_execute_is_reported_with_the_remedy() -> None:
    job = counts.job(counts.ROWS[0], 1)
    valgrind_output = "vex amd64->IR: unhandled instruction bytes: 0x62 0xF1"
    message = counts.failure_text(job, Path("build/native-clang/_native.so"), valgrind_output)
    assert (
        "Remove that folder" in message
        and "SCons --clang native" in message
        and "vex" not in message
    )
    assert "it died" in counts.failure_text(job, Path("build/native-clang/_native.so"), "it died")


@pytest.mark.long  # clang compiles the whole engine, which takes six minutes on one core
@pytest.mark.bulk
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind counts instructions")
def test_executed_instructions_are_at_most_the_recorded_baseline() -> None:
    """The pinned clang compiles the engine, because each compiler generates different
    instructions.
    """
    clang.build()
    executed = counts.instructions({row: counts.counted(row)["times"] for row in counts.ROWS})
    assert not [
        w for row, n in executed.items() for w in counts.worse_counts(row, {"instructions": n})
    ]
