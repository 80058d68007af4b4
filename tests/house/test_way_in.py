"""Are the things that a newcomer uses first correct: index of tests, quick tests, settings?"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.house.tracked import TOP, name, tracked
from tests.tools import suites, touched

FOLDERS = {
    path.parts[0]
    for path in (p.relative_to(touched.TESTS) for p in tracked() if touched.TESTS in p.parents)
    if len(path.parts) > 1
}
# folders whose code only serves other tests
OF_TESTS_ALONE = {"corpus", "doubles", "foreign", "support", "tools"}


def test_every_folder_of_tests_has_a_line_in_the_index() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .+ \|$", (TOP / "tests/README.md").read_text(), re.MULTILINE)
    assert rows == sorted(FOLDERS)


def test_table_of_quick_tests_has_a_row_for_exactly_the_existing_paths() -> None:
    paths = [name(path) for path in tracked()]
    assert [p for p in paths if touched.row(p) is None and not p.startswith("tests/")] == []
    assert [row for row in touched.ROWS if not any(p.startswith(row) for p in paths)] == []


def test_rows_of_quick_tests_name_all_existing_suites_and_no_others() -> None:
    named = {word: touched.files(word) for row in touched.ROWS.values() for word in row.split()}
    gone = [w for w, files in named.items() if not any((touched.TESTS / f).exists() for f in files)]
    assert gone == []
    reached = {word.partition("/")[0] for word in named} | {*touched.ALWAYS}
    assert FOLDERS - reached == OF_TESTS_ALONE


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("sim/native/os/futex.cc", ["linux"]),
        ("sim/uncore/execution/cluster.py", ["cluster"]),
        (
            "sim/native/time/chance.hh",
            ["engine/test_rules_of_chance.py", "engine/test_running_ahead.py"],
        ),
        ("tests/cli/test_run.py", ["cli/test_run.py"]),
        ("tests/linux/calls.c", ["linux"]),
        ("tests/isa/test_gone.py", []),
        ("CHANGELOG.md", []),
        ("new/cli/file.py", []),
    ],
)
def test_suites_of_a_path_are_those_of_the_longest_matching_row_of_touched_toml(
    path: str, expected: list[str]
) -> None:
    assert touched.suites([path]) == sorted([*touched.ALWAYS, *expected])


def test_tests_of_a_suite_that_runs_completely_are_not_named_again() -> None:
    paths = ["sim/uncore/topology/load.py", "topologies/m2.toml"]
    assert touched.suites(paths) == sorted([*touched.ALWAYS, "topology"])


def test_changed_files_are_those_that_differ_from_main_committed_or_not(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@a.example", "-c", "core.hooksPath="]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "trunk")
    for file in ("kept", "edited", ".gitignore"):
        (tmp_path / file).write_text("ignored\n")
    git("add", ".")
    git("commit", "-m", "first")
    with pytest.raises(touched.NoMainBranch, match="git fetch origin main"):
        touched.changed(tmp_path)
    git("branch", "main")
    assert touched.changed(tmp_path) == []
    for file in ("committed", "new", "ignored", "edited"):
        (tmp_path / file).write_text("")
        if file == "committed":
            git("add", file)
            git("commit", "-m", "second")
    git("mv", "kept", "moved")
    assert touched.changed(tmp_path) == ["committed", "edited", "kept", "moved", "new"]


@pytest.mark.parametrize(("style", "status"), [([True, True], 0), ([True, False], 1)])
def test_quick_run_leaves_out_sanitizers_and_tests_marked_long_or_bulk(
    style: list[bool], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(suites, "style", lambda: style)
    monkeypatch.setattr(suites, "run", lambda *command: pytest.fail(f"{command} is not quick"))
    monkeypatch.setattr(suites.sanitized, "build", lambda: pytest.fail("sanitizers are not quick"))
    monkeypatch.setattr(touched, "changed", lambda: ["README.md"])
    monkeypatch.setattr(pytest, "main", lambda words, plugins: ran.append(words) or 0)
    assert suites.main(["--quick"]) == status
    assert [word for word in ran[0] if word.startswith("tests/")] == [
        f"tests/{suite}" for suite in touched.suites(["README.md"])
    ]
    assert "not long and not bulk" in ran[0]


def test_option_quick_refuses_names_of_suites(capsys: pytest.CaptureFixture[str]) -> None:
    assert suites.main(["--quick", "cli"]) == 2
    assert "scripts/test cli" in capsys.readouterr().err


def test_git_hooks_call_only_scripts_of_this_tree() -> None:
    text = (TOP / ".pre-commit-config.yaml").read_text()
    entries = re.findall(r"entry: (\S+)", text)
    assert set(re.findall(r"repo: (\S+)", text)) == {"local"}
    assert entries and all(entry.startswith((".venv/bin/", "scripts/")) for entry in entries)
    assert [entry for entry in entries if not (TOP / entry).exists()] == []


def test_editorconfig_has_the_line_length_of_the_formatters() -> None:
    widths = re.findall(r"^max_line_length = (\d+)", (TOP / ".editorconfig").read_text(), re.M)
    ruff = tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["ruff"]["line-length"]
    clang = re.search(r"ColumnLimit: (\d+)", (TOP / ".clang-format").read_text())
    biome = re.search(r'"lineWidth": (\d+)', (TOP / "biome.jsonc").read_text())
    assert clang and biome
    assert [*widths, clang[1], biome[1]] == [str(ruff)] * 3


def test_script_that_sets_up_the_container_exists() -> None:
    container = json.loads((TOP / ".devcontainer/devcontainer.json").read_text())
    assert (TOP / container["postCreateCommand"].split()[-1]).is_file()


def test_form_for_reporting_a_mistake_asks_for_result_and_installation() -> None:
    text = (TOP / ".github/ISSUE_TEMPLATE/mistake.yml").read_text()
    assert "--output result.json" in text and "`uncore engines --report`" in text
