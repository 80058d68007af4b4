"""Does the source tree meet its limits, and are the metrics computed correctly?"""

from __future__ import annotations

import pytest
from tests.house import documents, reading_sample
from tests.house.bars import MEASURES, measure, openings_above, table
from tests.house.bindings import is_vague, of_cpp, of_python
from tests.house.classes import classes
from tests.house.comments import in_c, in_python
from tests.house.modules import cycles
from tests.house.openings import is_counted, opens_badly
from tests.layers.cpp import functions


@pytest.mark.parametrize("bar", table())
def test_figure_of_each_bar_is_within_its_limit(bar):
    measured = measure(bar)
    assert measured.figure <= table()[bar]["most"], "\n".join(measured.lines)


def test_every_bar_has_a_function_that_measures_it():
    assert set(table()) <= set(MEASURES)


def test_folder_whose_share_is_above_the_goal_is_named(monkeypatch):
    shares = {"sim/a": 5.1, "sim/b": 3.0, "sim/c": 3.5, "sim/d": 2.9}
    monkeypatch.setattr("tests.house.openings.shares", lambda: shares)
    measured = openings_above(0, goal=3)
    assert measured.figure == 2
    assert [line.split()[3] for line in measured.lines if "ABOVE" in line] == ["sim/a:", "sim/c:"]


def test_comments_are_docstrings_blocks_and_ends_of_lines():
    text = '''"""Module, in words."""
x = 1  # of one
       # that goes on
# A block
# of two lines.

def f():
    """What f does."""
    return "# no comment"
'''
    assert sorted(in_python(text)) == [
        (1, "Module, in words."),
        (2, "of one\nthat goes on"),
        (4, "A block\nof two lines."),
        (8, "What f does."),
    ]


def test_comments_of_c_are_blocks_ends_of_lines_and_starred():
    text = """/* Of the file,
 * in two lines. */
int x;  // one
        // goes on
// another
char* s = "// no comment";
int y = 1'000;  // of y
"""
    assert sorted(in_c(text)) == [
        (1, "Of the file,\nin two lines."),
        (3, "one\ngoes on"),
        (5, "another"),
        (7, "of y"),
    ]


@pytest.mark.parametrize(
    ("text", "counted", "bad"),
    [
        ("What it does, in words", True, True),
        ("whether it is so today", True, True),
        ("`of` the four words", True, True),
        ("Whatever is done stays done", True, False),
        ("Returns what it does", True, False),
        ("of three words", False, True),
    ],
)
def test_only_comments_of_four_words_have_an_opening(text, counted, bad):
    assert (is_counted(text), opens_badly(text)) == (counted, bad)


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


def test_names_found_in_cpp_are_the_identifiers_declared_after_a_type():
    text = """int Outer<T>::method(const Bytes& line, std::size_t one) const {
  auto [first, last] = range(line);
  for (const Found& found : all) total += a * found.one;
  return kept;
}"""
    names = list(of_cpp(text))
    assert sorted(names) == ["first", "found", "last", "line", "one"]


def test_names_found_in_python_are_targets_parameters_and_definitions():
    text = """
import a as b
def f(c, *d):
    self.e = [g for g in c if kept]
    with c as h:
        i: int = 0
class J: ...
"""
    assert sorted(of_python(text)) == list("Jbcdefghi")


def test_a_name_is_vague_if_a_whole_part_is_a_listed_word():
    words = {"one", "place"}
    assert (
        is_vague("one", words) and is_vague("test_one_more", words) and is_vague("onePlace", words)
    )
    assert is_vague("kOne", words)
    assert not is_vague("done", words) and not is_vague("placement", words)


def test_an_import_cycle_is_a_path_that_returns_to_a_module():
    assert list(cycles({"a": ["b"], "b": ["c"], "c": []})) == []
    assert list(cycles({"a": ["b"], "b": ["c"], "c": ["b"]})) == [["b", "c"]]


def test_words_that_a_command_writes_into_a_page_are_not_counted() -> None:
    page = "Two words.\n<!-- age -->\n| a | table |\n<!-- end -->\nTwo more."
    assert documents.of_people(page) == 4


@pytest.mark.parametrize("kind", reading_sample.KINDS)
def test_sample_is_reproducible_and_shows_the_lines_of_its_items(kind):
    first, again, other = (reading_sample.drawn(kind, 20, seed) for seed in (1, 1, 2))
    assert first == again != other
    for item in first:
        assert item.text.splitlines()[0] in item.path.read_text()
        assert item.text.splitlines()[0] in reading_sample.shown(1, item)
