"""Are files of the user's folder available to programs, and are changed files saved elsewhere?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.linux.programs import job, program, run_guest

from uncore.errors import GuestError, Unfinished, UserError
from uncore.execution.execute import execute
from uncore.program import read_folder

GIVEN = (("other", b"not asked for"), ("some/text", b"as given"))


def changed_files(*words: str) -> dict[bytes, bytes]:
    observed: list[dict[str, object]] = []
    point = job(*words, guest="files", files=GIVEN)
    results = execute(
        [point], observers=frozenset({"files"}), seen=lambda _, files: observed.append(files)
    )
    assert results[0].points[0].failures == []
    return dict(observed[0]["files"])  # type: ignore[call-overload, no-any-return]


def test_changed_files_are_saved_and_the_users_folder_is_unchanged() -> None:
    assert changed_files("changes_folder") == {
        b"/files/in/memory": b"m" * 8,
        b"/files/made": b"new",
        b"/files/some/text": b"changed",
        b"/tmp/kept": b"too",
    }


def test_files_that_are_only_read_are_not_saved() -> None:
    assert changed_files("shows", "/files/some/text") == {}


def test_files_of_a_program_count_towards_max_memory() -> None:
    filling = job("fills", guest="files", watchdog=0)
    with pytest.raises(GuestError, match="--max-memory"):
        execute([filling], engine_options={"max_memory": "1MiB"})


def test_incomplete_files_are_saved_if_a_limit_is_reached() -> None:
    filling = job("fills", guest="files", watchdog=0)
    limits = {"max_memory": "1MiB"}
    with pytest.raises(GuestError) as error:
        execute([filling], engine_options=limits, observers=frozenset({"files"}))
    ((path, content),) = Unfinished.observed_of(error.value)["files"]
    assert path == b"/tmp/uc-big" and len(content) > 100_000 and not any(content)


def test_proc_and_sys_describe_the_process_and_the_machine() -> None:
    status = run_guest("shows", "/proc/self/status", guest="files", harts=3).output
    assert "\nThreads:\t1\n" in str(status) and "\nCpus_allowed_list:\t0-2\n" in str(status)
    maps = str(run_guest("shows", "/proc/1000/maps", guest="files").output).splitlines()
    assert any(line.endswith("[stack]") for line in maps)
    assert [line for line in maps if " r-xp " in line]
    size = "/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size"
    for machine, line in (("ccx:2x4", "64\n"), ("power9x2", "128\n")):
        assert run_guest("shows", size, guest="files", machine=machine).output == line
    assert run_guest("shows", "/proc/self/exe", guest="files").failures == []
    stat = str(run_guest("shows", "/proc/stat", guest="files", harts=3).output)
    assert [row.split()[0] for row in stat.splitlines()][:4] == ["cpu", "cpu0", "cpu1", "cpu2"]


def test_empty_subfolders_of_the_users_folder_exist_for_the_program(tmp_path: Path) -> None:
    (tmp_path / "some/empty").mkdir(parents=True)
    (tmp_path / "text").write_text("a line")
    files = read_folder(tmp_path)
    assert dict(files) == {"some/empty/": b"", "text": b"a line"}
    for path, status in (("some/empty", 0), ("some/none", 2)):
        failures = run_guest("shows", f"/files/{path}", guest="files", files=files).failures
        assert failures == ([f"exit status {status}"] if status else [])


def test_symbolic_links_out_of_the_users_folder_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    (folder / "in/text").write_text("inside")
    (folder / "link").symlink_to("in/text")
    assert dict(read_folder(folder)) == {"in/text": b"inside", "link": b"inside"}
    (tmp_path / "secret").write_text("outside")
    (folder / "in/out").symlink_to("../../secret")
    with pytest.raises(UserError, match=r"in/out is a link that leads out of the folder"):
        read_folder(folder)


def test_option_keep_writes_changed_files_only_into_an_empty_folder(tmp_path: Path) -> None:
    elf, folder = tmp_path / "files", tmp_path / "kept"
    elf.write_bytes(program("files").data)
    users_folder = tmp_path / "given"
    for path, content in GIVEN:
        (users_folder / path).parent.mkdir(parents=True, exist_ok=True)
        (users_folder / path).write_bytes(content)
    run = [sys.executable, "-m", "uncore", "run", "ccx:2x4", str(elf), "--repeat", "1"]
    run += ["--files", str(users_folder), "--keep", str(folder), "--", "changes_folder"]
    first = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert first.returncode == 0, first.stderr
    assert (folder / "files/some/text").read_text() == "changed"
    assert (folder / "tmp/kept").read_text() == "too"
    assert (users_folder / "some/text").read_text() == "as given"
    second_run = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert second_run.returncode == 2 and "write a folder that is new or empty" in second_run.stderr
