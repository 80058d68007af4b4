"""A function fits the eye: 40 lines at most, its head included."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.layers.source import TOP, files, functions

MOST = 40
PYTHON = ("sim", "tests", "validation", "benchmarks", "workloads")


def native() -> Iterator[tuple[str, int]]:
    for file in files():
        for function in functions(file.read_text()):
            yield f"{file.relative_to(TOP)}: {function.name}", function.lines


def python() -> Iterator[tuple[str, int]]:
    for file in sorted(f for folder in PYTHON for f in (TOP / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{file.relative_to(TOP)}: {node.name}", node.end_lineno - node.lineno + 1


def test_no_function_is_longer_than_the_eye_takes_in():
    assert [name for name, lines in [*native(), *python()] if lines > MOST] == []


def test_functions_are_found_as_clang_format_lays_them_out():
    text = """namespace n {
struct S {
  int small() const { return 1; }
  explicit S(int a)
      : a_(a),
        b_(a) {
    begin();
  }
};

constexpr int kTable[] = {
    1,
};

template <class T>
int Outer<T>::long_one(int a,
                       int b) {
  for (;;) {
    if (a) {
      b();
    } else {
      c();
    }
  }
}

}  // namespace n
"""
    assert [(f.name, f.lines) for f in functions(text)] == [("S", 5), ("Outer<T>::long_one", 11)]
