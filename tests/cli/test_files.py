"""Does a file that uncore writes always have its old or its new content, and never half of it?"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from uncore import api, program
from uncore.errors import UserError
from uncore.result import log, save
from uncore.study import matrix as matrices
from uncore.support.output_files import METADATA, write_figure, write_whole

BEFORE = "the old content"


@pytest.fixture(scope="module")
def result():
    return api.run("bus:2", "lock/ticket", threads=[1, 2])


def saved_as(ending, result, path):
    if ending == "log":
        empty = {key: [] for key in log.LOG_COLUMNS}
        log.save([(2, None, log.frame(empty))], path)
    else:
        save(result, path)


def on_a_full_disk(write) -> str:
    """Returns the error message of `write` if no file may grow beyond a few bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))
    try:
        with pytest.raises(UserError) as error:
            write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    return str(error.value)


@pytest.mark.parametrize("ending", ["json", "parquet", "log"])
def test_full_disk_leaves_only_the_old_file(ending, result, tmp_path):
    path = tmp_path / f"r.{'parquet' if ending == 'log' else ending}"
    path.write_text(BEFORE)
    message = on_a_full_disk(lambda: saved_as(ending, result, path))
    assert message.startswith(f"{path}: cannot write it: ")
    assert path.read_text() == BEFORE
    assert os.listdir(tmp_path) == [path.name]


def test_picture_that_cannot_be_written_leaves_the_old_file(result, tmp_path):
    from uncore.drawing.plot import picture
    from uncore.report import chart

    path = tmp_path / "p.png"
    path.write_text(BEFORE)
    on_a_full_disk(lambda: picture(path, *chart.panels([result])))
    assert path.read_text() == BEFORE
    assert os.listdir(tmp_path) == [path.name]


def test_png_that_is_laid_out_first_has_the_bytes_that_savefig_gives(tmp_path):
    from matplotlib.figure import Figure

    def drawn():
        figure = Figure(layout="constrained")
        for axes in figure.subplots(2, 2).flat:
            axes.plot([1, 2, 3], [30, 1, 2], label="a line")
            axes.set(title="a title", ylabel="two\nlines")
            axes.annotate("a label", (3, 2), (1.05, 0.5), textcoords="axes fraction")
            axes.legend()
        return figure

    ours, theirs = tmp_path / "ours.png", tmp_path / "theirs.png"
    write_figure(ours, drawn(), 60)
    drawn().savefig(theirs, dpi=60, metadata=METADATA["png"])
    assert ours.read_bytes() == theirs.read_bytes()


def test_writing_replaces_a_symbolic_link_and_does_not_follow_it(tmp_path):
    target, path = tmp_path / "target", tmp_path / "r.json"
    target.write_text(BEFORE)
    path.symlink_to(target)
    write_whole(path, "new")
    assert (path.read_text(), target.read_text()) == ("new", BEFORE)
    assert not path.is_symlink()


def test_written_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    write_whole(tmp_path / "whole", "")
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_two_concurrent_writers_never_leave_a_half_written_file(tmp_path):
    path = tmp_path / "r"
    code = "import sys; from pathlib import Path\n"
    code += "from uncore.support.output_files import write_whole\n"
    code += "for _ in range(100): write_whole(Path(sys.argv[1]), sys.argv[2] * 50_000)"
    writers = [subprocess.Popen([sys.executable, "-c", code, path, letter]) for letter in "ab"]
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            content = path.read_text()
            assert content in ("a" * 50_000, "b" * 50_000)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert os.listdir(tmp_path) == ["r"]


@pytest.mark.parametrize("name", ["pipe.c", "pipe.elf"])
def test_pipe_given_as_a_program_is_refused_at_once(name, tmp_path):
    os.mkfifo(tmp_path / name)
    read = program.compile if name.endswith(".c") else program.load
    with pytest.raises(UserError, match="not a regular file"):
        read(tmp_path / name)


def test_error_for_an_impossible_cache_folder_names_the_folder_and_the_remedy(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("uncore.support.paths.CACHE", Path("/dev/null/uncore"))
    source = tmp_path / "x.c"
    source.write_text("")
    with pytest.raises(UserError, match=r"/dev/null/uncore/guests/.*XDG_CACHE_HOME"):
        program.compile(source)


def test_matrix_on_a_full_disk_leaves_the_old_file(tmp_path):
    measured = matrices.measure("bus:2", ipi=False, overrides={}, smt=True)
    path = tmp_path / "m.csv"
    path.write_text(BEFORE)
    on_a_full_disk(lambda: matrices.write_csv(measured, path))
    assert path.read_text() == BEFORE
