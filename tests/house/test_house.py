"""The tree stays within the bars that it meets, and the measures count what they say."""

from __future__ import annotations

import pytest
from tests.house import documents
from tests.house.bars import MEASURES, measure, table
from tests.house.bindings import is_vague, of_cpp, of_python
from tests.house.classes import classes
from tests.house.modules import cycles
from tests.layers.cpp import functions

HELD = [bar for bar, row in table().items() if row["held"]]


@pytest.mark.parametrize("bar", HELD)
def test_a_bar_that_is_met_stays_met(bar):
    measured = measure(bar)
    assert measured.figure <= table()[bar]["most"], "\n".join(measured.lines)


def test_every_bar_is_measured():
    assert set(table()) == set(MEASURES)


def test_functions_are_delimited_as_clang_format_lays_them_out():
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


CLASSES = """
namespace n {
enum class Kind : uint8_t { a, b };
#define MACRO(x) \\
  int x() { return 0; }
template <class T>
class alignas(64) Outer : Base<T> {
 public:
  explicit Outer(int a) : Base<T>(a), b_{a}, c_{} { begin(); }
  ~Outer() = default;
  Outer(const Outer&) = delete;
  bool operator<(const Outer& o) const { return b_ < o.b_; }
  T operator()(int a) const;
  [[gnu::noinline]] std::vector<std::function<void(int)>> overloaded() const;
  int overloaded(int) const { return "}"[0]; }  // not a brace
  template <class F>
  auto generic(F f) -> decltype(f(1)) {
    struct Local { int no() { return 1; } };
    return f(1);
  }
  struct Inner {
    int x = 0;
    int get() const { return x; }
  };
  friend int other(Outer&);
  using Call = int (*)(int);
  static_assert(sizeof(int) == 4);

 private:
  std::function<void(int)> call_;
  int b_{1}, c_ = f(2);
};
int free_function() { return 1; }
}
"""


def test_methods_are_the_member_functions_that_a_class_declares():
    methods = {c.name: list(c.methods) for c in classes(CLASSES)}
    assert methods == {
        "Outer::Inner": ["get"],
        "Outer": ["operator<", "operator()", "overloaded", "overloaded", "generic"],
    }


def test_cpp_names_are_those_behind_a_type():
    text = """int Outer<T>::method(const Bytes& line, std::size_t one) const {
  auto [first, last] = range(line);
  for (const Found& found : all) total += a * found.one;
  return kept;
}"""
    names = list(of_cpp(text))
    assert sorted(names) == ["first", "found", "last", "line", "one"]


def test_python_names_are_targets_parameters_and_definitions():
    text = """
import a as b
def f(c, *d):
    self.e = [g for g in c if kept]
    with c as h:
        i: int = 0
class J: ...
"""
    assert sorted(of_python(text)) == list("Jbcdefghi")


def test_a_name_is_vague_by_a_whole_part():
    words = {"one", "place"}
    assert (
        is_vague("one", words) and is_vague("test_one_more", words) and is_vague("onePlace", words)
    )
    assert is_vague("kOne", words)
    assert not is_vague("done", words) and not is_vague("placement", words)


def test_a_cycle_is_a_path_that_leads_back():
    assert list(cycles({"a": ["b"], "b": ["c"], "c": []})) == []
    assert list(cycles({"a": ["b"], "b": ["c"], "c": ["b"]})) == [["b", "c"]]


def test_words_that_a_command_writes_into_a_page_are_not_counted() -> None:
    page = "Two words.\n<!-- age -->\n| a | table |\n<!-- end -->\nTwo more."
    assert documents.of_people(page) == 4
