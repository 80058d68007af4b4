"""Does `uncore boot` continue from a kept boot with the same result, and never from a boot with
other settings?
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest
from tests.cli.test_boot import GUEST, needs_arena
from tests.engine.test_devices_of_kernels import ECHO
from tests.engine.test_kernels import CALLS
from tests.isa import guest

from uncore.boot import kept_boots

HEAD = GUEST.partition("1:")[0]
SHELL = f".set WORDS, 0x80070000\n.set TARGET, 0\n{HEAD}1:\n{ECHO}"
BOOT_RUN = "boot ccx:1x2 --kernel Image --memory 16MiB --json --run".split()
CONTINUED = re.compile(r"goes on from its boot of \d\d \w+ \d{4}, \d\d:\d\d; --fresh boots anew")

pytestmark = needs_arena


@pytest.fixture
def boot(uncore, tmp_path: Path):
    Path("Image").write_bytes(guest.assemble(CALLS + SHELL, tmp_path).text)
    return lambda *options, run="x": uncore(*BOOT_RUN, run, *options)


def kept_boots_on_disk() -> list[Path]:
    return sorted(kept_boots.BOOTS_FOLDER.glob("*"), key=lambda file: file.stat().st_mtime_ns)


def test_continued_boot_has_the_same_result_as_a_boot_from_the_start(boot):
    first, again, other_command = boot(), boot(), boot(run="y")
    assert "kept for the next boot of the same, at" in first.err
    assert [bool(CONTINUED.search(result.err)) for result in (first, again, other_command)] == [
        0,
        1,
        1,
    ]
    assert json.loads(first.out)["console"] == "?x\n"
    assert again.out == first.out
    assert other_command.out == boot("--fresh", run="y").out != first.out
    assert len(kept_boots_on_disk()) == 1


def test_console_of_a_continued_boot_includes_the_text_printed_before(boot, uncore):
    first, again = (uncore(*(word for word in BOOT_RUN if word != "--json"), "x") for _ in range(2))
    assert CONTINUED.search(again.err)
    assert (first.out, again.out) == ("?x\n", "?x\n")


@pytest.mark.parametrize(
    "more", ["--append quiet", "--harts 1", "--memory 32MiB", "--with core.clock=2GHz"]
)
def test_boot_whose_settings_differ_from_the_kept_boot_starts_from_scratch(boot, more):
    boot()
    assert not CONTINUED.search(boot(*more.split()).err)
    assert CONTINUED.search(boot().err)


def test_boot_of_another_kernel_or_copy_of_uncore_starts_from_scratch(boot, monkeypatch):
    boot()
    Path("Image").write_bytes(Path("Image").read_bytes() + b"\1")
    assert not CONTINUED.search(boot().err)
    monkeypatch.setattr("uncore.engine.copy.content", lambda: "another")
    assert not CONTINUED.search(boot().err)
    assert len(kept_boots_on_disk()) == 3


@pytest.mark.parametrize("spoil", [lambda b: b[:-9], lambda b: b"", lambda b: b[:-1] + b"\xff"])
def test_damaged_kept_boot_is_replaced_by_a_new_boot(boot, spoil):
    first = boot()
    content = kept_boots_on_disk()[0].read_bytes()
    kept_boots_on_disk()[0].write_bytes(spoil(content))
    again = boot()
    assert (again.out, CONTINUED.search(again.err)) == (first.out, None)
    assert CONTINUED.search(boot().err)


@pytest.mark.parametrize("may_write", [stat.S_IWGRP, stat.S_IWOTH], ids=["group", "others"])
def test_kept_boots_in_a_folder_that_others_may_write_are_not_used(boot, may_write):
    first = boot()
    kept_boots.BOOTS_FOLDER.chmod(0o700 | may_write)
    files = kept_boots_on_disk()
    again = boot()
    assert "kept" not in again.err
    assert (again.out, CONTINUED.search(again.err), kept_boots_on_disk()) == (
        first.out,
        None,
        files,
    )


@pytest.mark.parametrize("may_write", [stat.S_IWGRP, stat.S_IWOTH], ids=["group", "others"])
def test_kept_boot_that_others_may_write_is_replaced_by_a_new_boot(boot, may_write):
    """A file that only its owner may write is used, even if others may enter its folder."""
    first = boot()
    kept_boots.BOOTS_FOLDER.chmod(0o755)
    kept_boots_on_disk()[0].chmod(0o600 | may_write)
    again = boot()
    assert (again.out, CONTINUED.search(again.err)) == (first.out, None)
    assert stat.S_IMODE(kept_boots_on_disk()[0].stat().st_mode) == 0o600
    assert CONTINUED.search(boot().err)


def test_kept_boot_that_others_may_only_read_is_used(boot):
    boot()
    kept_boots.BOOTS_FOLDER.chmod(0o755)
    kept_boots_on_disk()[0].chmod(0o644)
    assert CONTINUED.search(boot().err)


@pytest.mark.parametrize("foreign", ["folder", "file"])
def test_boot_kept_by_another_user_is_not_used(boot, monkeypatch, foreign):
    boot()
    (foreign_path,) = {"folder": [kept_boots.BOOTS_FOLDER], "file": kept_boots_on_disk()}[foreign]
    status = Path.stat

    def stat_of_another_user(path, **options):
        real = status(path, **options)
        changed = [*real]
        changed[stat.ST_UID] += path == foreign_path
        return os.stat_result(changed)

    monkeypatch.setattr(Path, "stat", stat_of_another_user)
    assert not CONTINUED.search(boot().err)


def test_oldest_kept_boots_are_deleted_if_the_folder_is_full(boot, monkeypatch):
    for append in ("a", "b", "c"):
        boot("--append", append)
    size = kept_boots_on_disk()[0].stat().st_size
    monkeypatch.setattr(kept_boots, "MAX_KEPT_BYTES", 2 * size + 1000)
    boot("--append", "d")
    assert len(kept_boots_on_disk()) == 2
    assert [bool(CONTINUED.search(boot("--append", a).err)) for a in "dca"] == [1, 1, 0]


def test_continued_boot_saves_the_same_state_as_an_uninterrupted_boot(boot, uncore):
    first = boot("--state", "one")
    again = boot("--state", "two")
    assert CONTINUED.search(again.err)
    outputs = [
        uncore("boot", "--from", name, "--json", "--run", "x").out for name in ("one", "two")
    ]
    assert outputs == [first.out] * 2


def test_boot_that_saves_its_state_before_the_time_of_the_kept_boot_starts_from_scratch(boot):
    boot()
    result = boot("--state", "one", "--save-at", "1us")
    assert (result.status, CONTINUED.search(result.err)) == (0, None)
    assert re.search(r"saved in one, at .* 1\.0 ms", result.err)
