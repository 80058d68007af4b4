"""Are mutants drawn from changed code, and does each of them make one change?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.mutants import changed_lines
from tests.mutants.mutant_list import TOP

PYTHON = '''"""Adds 1 + 2."""
def add(a, b=3):
    if a < b and "x == y":  # or 4 > 5
        log.append(a)
    return max(a, b)
'''
CPP = """// Adds 1 + 2.
int add(int a, int b) {
  if (a <= b) total += a;
  log("x == y", 7);
  std::vector<int> kept{a * b};
  return a == b ? b : a;
}
"""


def all_changes(file: str, text: str) -> list[tuple[str, str, str]]:
    """Returns the kind, the old text and the new text of each change that can be drawn."""
    found_changes = changed_lines.changes(file, text, range(100))
    return [(change.kind, text[change.begin : change.end], change.new) for change in found_changes]


def test_python_mutants_change_operators_constants_and_statements() -> None:
    assert all_changes("x.py", PYTHON) == [
        ("constant", "3", "4"),
        ("operator", "<", "<="),
        ("operator", "and", "or"),
        ("operator", "max", "min"),
        ("deletion", "log.append(a)", "pass"),
    ]


def test_cpp_mutants_change_operators_constants_conditions_and_statements() -> None:
    assert all_changes("x.cc", CPP) == [
        ("operator", "<=", "<"),
        ("operator", "+=", "-="),
        ("constant", "7", "8"),
        ("operator", "*", "+"),
        ("operator", "==", "!="),
        ("condition", "a <= b", "!(a <= b)"),
        ("deletion", 'log("x == y", 7)', ""),
    ]


def test_only_lines_that_were_changed_recently_are_mutated(tmp_path: Path) -> None:
    source = tmp_path / "sim/uncore/add.py"
    source.parent.mkdir(parents=True)

    def commit(text: str, day: str) -> None:
        source.write_text(text)
        git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=b"]
        dates = {"GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day}
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "x"], check=True, env=dates)

    commit("a = 1\nb = 2\n", "2020-01-01T00:00:00")
    assert list(changed_lines.changed_lines(tmp_path)) == []
    source.write_text("a = 1\nb = 3\nc = 4\n")
    assert list(changed_lines.changed_lines(tmp_path)) == [("sim/uncore/add.py", {2, 3})]


def test_drawn_mutants_can_be_applied_and_have_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    files = ("sim/uncore/program/elf.py", "sim/native/os/futexes.cc", "sim/uncore/py.typed")
    monkeypatch.setattr(
        changed_lines, "changed_lines", lambda: ((file, range(1000)) for file in files)
    )
    drawn = changed_lines.drawn(40, 1)
    assert drawn == changed_lines.drawn(40, 1) != changed_lines.drawn(40, 2)
    assert len({mutant.name for mutant in drawn}) == 40
    for mutant in drawn:
        text = (TOP / mutant.file).read_text()
        assert mutant.applied(text) != text and mutant.tests
