"""Does a workload that pads its structures by itself learn the machine's line size?"""

from __future__ import annotations

from pathlib import Path

import pytest

from uncore import program
from uncore.engine import native
from uncore.execution.request import make_job
from uncore.topology import load

PADS = """\
#include "line.h"
UC_WORKLOAD("Checks the line size that it is given");
UC_PARAM(u64, expected, 64, "bytes", "of a line");
void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  uc_check(line_bytes == expected, "the line size is another");
  uc_op();
}
"""


@pytest.mark.parametrize(
    ("line", "given", "expected"),
    [("64B", {}, 64), ("128B", {}, 128), ("256B", {}, 256), ("256B", {"line_bytes": 128}, 128)],
)
def test_workload_is_given_the_line_size_of_the_machine(
    line: str, given: dict[str, int], expected: int, tmp_path: Path
) -> None:
    """With 64-byte lines the parameter is not set, so hashes of older jobs stay valid."""
    source = tmp_path / "pads.c"
    source.write_text(PADS)
    guest, machine = program.compile(source), load("ccx:2x2", [f"line={line}"])
    job = make_job(machine, guest, (2,), parameters={"expected": expected, **given})
    assert native.run(job, frozenset())["failures"] == []
    assert ("line_bytes" in dict(job.parameters)) is (line != "64B")
    assert "line_bytes" not in dict(make_job(machine, "lock/ticket", (2,)).parameters)
