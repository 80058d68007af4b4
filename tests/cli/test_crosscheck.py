"""Does `uncore crosscheck` compare the engines that are here, and refuse what is no comparison?"""

from __future__ import annotations

import msgspec
import pytest

from uncore.cli.app import main

WORDS = ["crosscheck", "ring:2", "lock/ticket", "--set", "ops=5"]


def test_missing_engines_are_left_out_by_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNCORE_SST", "/nowhere")
    with pytest.raises(SystemExit) as ended:
        main([*WORDS, "--json"])
    assert ended.value.code == 0
    compared = msgspec.json.decode(capsys.readouterr().out)
    assert [row["engine"] for row in compared["rows"]] == ["native", "reference"]
    assert compared["broken"] == compared["apart"] == []


@pytest.mark.parametrize(
    ("engines", "message"),
    [
        ("native", "write at least two different ones"),
        ("native,native", "write at least two different ones"),
        ("native,nativ", "no engine is called 'nativ'"),
        ("native,sst", "no SST in /nowhere"),
    ],
)
def test_invalid_engines_to_compare_are_refused(
    engines: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNCORE_SST", "/nowhere")
    with pytest.raises(SystemExit) as ended:
        main([*WORDS, "--engines", engines])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
