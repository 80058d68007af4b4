"""Is a DragonFly trace read correctly, and is each event compared with the run that
reproduces it?
"""

from __future__ import annotations

from pathlib import Path

import pytest

from uncore.cli.app import main
from uncore.errors import UserError
from uncore_lab.validate import ktr

# two sequences of each kind from Dillon 2005
TRACE = """
652\t1\t1.040 uS\tPING
794\t0\t1.171 uS\tPONG

813\t0\t1.159 uS\tPIPELINE
814\t0\t0.141 uS\tPIPELINE
815\t0\t0.044 uS\tPIPELINE

812\t0\t\tWAKEUP_BEG
813\t0\t0.291uS\tWAKEUP_END
814\t0\t1.102uS\tTSLEEP_END
406\t0\t\tWAKEUP_BEG
407\t0\t0.168 uS\tWAKEUP_END
768\t1\t1.295 uS\tTSLEEP_END
89\t1\t\tFREE BEGIN
90\t1\t0.879 uS\tPASSIVE IPI
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace"
    path.write_text(TRACE)
    return path


def test_trace_record_has_the_interval_since_the_previous_record(trace: Path) -> None:
    records = ktr.read(trace)
    assert len(records) == 13
    assert records[0] == ktr.KtrRecord(652, 1, 1040, "PING")
    assert (records[-2].ns, records[-1].event) == (None, "PASSIVE_IPI")


def test_later_pipeline_records_and_wakeups_by_another_cpu_get_names_of_their_own(
    trace: Path,
) -> None:
    names = [event for event, _ in ktr.named(ktr.read(trace))]
    assert names[2:5] == ["PIPELINE", "PIPELINE+", "PIPELINE+"]
    assert names[6:8] == ["WAKEUP_END", "TSLEEP_END"]
    assert names[9:11] == ["WAKEUP_END, other", "TSLEEP_END, other"]


def test_simulated_time_of_a_traced_event_follows_the_numbers_of_the_machine(trace: Path) -> None:
    rows = ktr.compare(ktr.read(trace), "athlonx2-3800", {}, 40)
    row_of = {(row["event"], row["cpu"]): row for row in rows}
    assert row_of["PIPELINE+", 0]["median_ns"] == pytest.approx(92.5)
    assert row_of["PASSIVE_IPI", 1]["simulated_ns"] is None
    alone, behind = (row_of[event, 0]["simulated_ns"] for event in ("PIPELINE", "PIPELINE+"))
    assert alone > 5 * behind > 5 * 40
    dear = ktr.compare(ktr.read(trace), "athlonx2-3800", {"interrupt.entry": "1150ns"}, 40)
    assert dear[0]["simulated_ns"] - rows[0]["simulated_ns"] == pytest.approx(1000, abs=100)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("652 1 1.040 uS PING\nhello\n", r":2: read 'hello'; expected number, CPU"),
        ("", "no records; expected lines such as"),
        ("652 1 1.0.4 uS PING", r":1: read"),
        (None, "cannot be read"),
    ],
)
def test_file_that_is_no_trace_is_refused(text: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError, match=message):
        ktr.read(path)


def test_ktr_command_prints_a_row_for_each_kind_of_event(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["ktr", str(trace), "--record", "40"])
    assert exit_.value.code == 0
    assert "WAKEUP_END, other" in capsys.readouterr().out
