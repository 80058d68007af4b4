"""Does one build with many mutants behave like each of them, and without a number like the
original?
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.mutants import switches
from tests.mutants.mutant_list import TOP, Mutant, all_mutants
from tests.mutants.trial import is_native
from tests.support import host_compiler

NATIVE = [mutant for mutant in all_mutants() if is_native(mutant)]
MAX_OUTSIDE_FUNCTIONS = 4
PROGRAM = """#include <cstdio>
namespace n {  // { a brace in a comment
struct S {
  static constexpr int kKept[] = {1, 2};
  int twice(int x) const { return x + x; }
  const char* text() { return "}"; }
};
constexpr int square(int x) {
  if (x < 0) return square(-x);
  return x * x;
}
static_assert(square(-3) == 9);
}  // namespace n
int main() {
  std::printf("%d %d %s", n::S().twice(5), n::square(-3), n::S().text());
}
"""
CHANGES = {1: ("x + x", "x"), 2: ("square(-x)", "7"), 3: ('"}"', '"{"'), 4: ("struct S", "class S")}


WITHOUT_LINKAGE = """namespace {
struct Pair { int first; };
int twice(int x) { return x + x; }
}
struct Holder { Pair pair; };
int main() { return twice(Holder().pair.first); }
"""


def compile_program(folder: Path, switched: switches.Switched, compiler: Sequence[str] = ()) -> str:
    """Compiles the program and returns the compiler's messages."""
    (folder / switches.HEADER).write_text(switches.SELECTION)
    (folder / "program.cc").write_text(switched.text)
    command = [
        *(compiler or host_compiler.words()),
        "-std=c++20",
        "-Wall",
        "-Werror",
        "program.cc",
        "-o",
        "program",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stderr


def output_of(folder: Path, number: int) -> str:
    environment = {switches.VARIABLE: str(number)}
    return subprocess.check_output([folder / "program"], env=environment, text=True)


def test_environment_variable_selects_the_mutant(tmp_path: Path) -> None:
    changed = {number: PROGRAM.replace(*change) for number, change in CHANGES.items()}
    switched = switches.switched("program.cc", PROGRAM, changed)
    assert switched.numbers == {1, 2, 3}
    assert compile_program(tmp_path, switched) == ""
    assert [output_of(tmp_path, number) for number in range(4)] == [
        "10 9 }",
        "5 9 }",
        "10 7 }",
        "10 9 {",
    ]


def test_compiler_errors_name_the_mutant_by_its_number(tmp_path: Path) -> None:
    changed = {12: PROGRAM.replace("x + x", "x + y"), 13: PROGRAM.replace("x + x", "x - x")}
    messages = compile_program(tmp_path, switches.switched("program.cc", PROGRAM, changed))
    assert set(switches.COMPILER_ERROR.findall(messages)) == {"12"}


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_mutated_program_with_types_without_linkage_compiles(tmp_path: Path) -> None:
    changed = {1: WITHOUT_LINKAGE.replace("x + x", "x")}
    switched = switches.switched("elsewhere/program.cc", WITHOUT_LINKAGE, changed)
    assert switched.numbers == {1} and compile_program(tmp_path, switched, ["g++"]) == ""


def test_almost_every_mutant_is_within_a_function() -> None:
    outside = [mutant.name for mutant in NATIVE if not _switched(mutant).numbers]
    assert len(outside) <= MAX_OUTSIDE_FUNCTIONS, outside


@pytest.mark.parametrize("mutant", NATIVE, ids=lambda mutant: mutant.name)
def test_switched_source_has_the_mutated_function_as_a_copy_and_all_other_text_unchanged(
    mutant: Mutant,
) -> None:
    text, switched = (TOP / mutant.file).read_text(), _switched(mutant)
    if switched.numbers:
        pattern = (
            r'(.*)\{ if \(MUTANT\(1\)\)\n#line 1 "mutant 1"\n(.*)\nelse \n#line (\d+) "[^"]*"\n(.*)'
        )
        head, copy, line, rest = re.fullmatch(
            pattern, switched.text.partition("#line 1\n")[2], re.DOTALL
        ).groups()
        assert text.startswith(head) and int(line) == head.count("\n") + 1
        body = next(body for body in switches.bodies(text) if body.begin == len(head))
        assert rest == f"{text[body.begin : body.end]} }}{text[body.end :]}"
        assert head + copy + text[body.end :] == mutant.applied(text)


def _switched(mutant: Mutant) -> switches.Switched:
    text = (TOP / mutant.file).read_text()
    return switches.switched(mutant.file, text, {1: mutant.applied(text)})
