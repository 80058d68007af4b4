// What the probes of a run saw, for Python: columns of NumPy arrays.
#include "binding/observe.hh"

#include <nanobind/ndarray.h>

namespace nb = nanobind;

namespace uncore {
namespace {

// One column: `field` of every row.
template <class Value = int64_t, class Row, class Field>
nb::object column(const std::vector<Row>& rows, Field field) {
  auto* values = new Value[rows.size()];
  const nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<Value*>(p); });
  for (std::size_t i = 0; i < rows.size(); ++i) values[i] = static_cast<Value>(field(rows[i]));
  return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values, {rows.size()}, owner));
}

nb::dict uses(const std::vector<Use>& rows) {
  nb::dict d;
  d["line"] = column(rows, [](const Use& u) { return u.line << kLineShift; });
  d["pc"] = column(rows, [](const Use& u) { return u.pc; });
  d["hart"] = column(rows, [](const Use& u) { return u.hart; });
  d["kind"] = column(rows, [](const Use& u) { return u.kind; });
  d["reads"] = column(rows, [](const Use& u) { return u.reads; });
  d["writes"] = column(rows, [](const Use& u) { return u.writes; });
  d["misses"] = column(rows, [](const Use& u) { return u.misses; });
  d["needless"] = column(rows, [](const Use& u) { return u.needless; });
  d["waited_ps"] = column(rows, [](const Use& u) { return u.waited; });
  d["critical_ps"] = column(rows, [](const Use& u) { return u.critical; });
  d["needless_ps"] = column(rows, [](const Use& u) { return u.needlessly; });
  d["read"] = column<uint64_t>(rows, [](const Use& u) { return u.read; });
  d["written"] = column<uint64_t>(rows, [](const Use& u) { return u.written; });
  return d;
}

nb::dict passed(const std::vector<Attribution::Passed>& rows) {
  using P = Attribution::Passed;
  nb::dict d;
  d["line"] = column(rows, [](const P& p) { return p.line << kLineShift; });
  d["source"] = column(rows, [](const P& p) { return p.from; });
  d["target"] = column(rows, [](const P& p) { return p.to; });
  d["times"] = column(rows, [](const P& p) { return p.times; });
  return d;
}

}  // namespace

nb::object log_columns(const Engine& engine) {
  if (!engine.log) return nb::none();
  using T = Transaction;
  const std::vector<T> rows = engine.log->records();
  nb::dict d;
  d["requester"] = column(rows, [](const T& t) { return t.name.requester; });
  d["number"] = column(rows, [](const T& t) { return t.name.number; });
  d["resolver"] = column(rows, [](const T& t) { return t.resolver; });
  d["line"] = column(rows, [](const T& t) { return t.line << kLineShift; });
  d["op"] = column(rows, [](const T& t) { return request_of(t.op); });
  d["owner"] = column(rows, [](const T& t) { return t.owner; });
  d["source"] = column(rows, [](const T& t) { return t.source; });
  d["right"] = column(rows, [](const T& t) { return t.right; });
  d["probes"] = column(rows, [](const T& t) { return t.probes; });
  d["request"] = column(rows, [](const T& t) { return t.request; });
  d["open"] = column(rows, [](const T& t) { return t.open; });
  d["probe"] = column(rows, [](const T& t) { return t.probe; });
  d["data"] = column(rows, [](const T& t) { return t.data; });
  d["close"] = column(rows, [](const T& t) { return t.close; });
  return d;
}

nb::object line_columns(const Engine& engine) {
  if (!engine.attribution) return nb::none();
  const auto invalidations = engine.attribution->invalidations();
  nb::dict taken;
  taken["line"] = column(invalidations, [](const auto& i) { return i.first << kLineShift; });
  taken["times"] = column(invalidations, [](const auto& i) { return i.second; });
  nb::dict d;
  d["uses"] = uses(engine.attribution->uses());
  d["passed"] = passed(engine.attribution->passed());
  d["invalidations"] = taken;
  d["waited_ps"] = engine.attribution->waited_in_all;
  d["path_ps"] = engine.attribution->path.length();
  return d;
}

}  // namespace uncore
