"""Does a file written by `uncore new` work unchanged, and is no existing file overwritten?"""

import json

import pytest


def test_new_lock_file_runs(uncore, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert uncore("new", "lock", "mine.c").status == 0
    assert uncore("run", "ccx:1x4", "mine.c", "--threads", "4", "--set", "ops=2").status == 0


def test_new_machine_file_loads(uncore, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert uncore("new", "machine", "mine.toml").status == 0
    shown = uncore("show", "mine.toml")
    assert shown.status == 0 and "16 cores, 16 harts, 2 memory nodes" in shown.out


def test_new_schema_file_contains_the_keys_of_a_machine(uncore, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = uncore("new", "schema", "machine.schema.json")
    assert written.status == 0 and "#:schema ./machine.schema.json" in written.out
    schema = json.loads((tmp_path / "machine.schema.json").read_text())
    assert "store_buffer" in schema["properties"]["core"]["properties"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("lock", "mine.toml"), ".c"), (("lock", "there.c"), "is there already")],
)
def test_wrong_ending_or_existing_file_is_refused(uncore, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.c").write_text("mine")
    run = uncore("new", *arguments)
    assert run.status == 2 and says in run.err
    assert (tmp_path / "there.c").read_text() == "mine"
