// What the probes of a run saw, for Python: columns of NumPy arrays.
#include "binding/observe.hh"

#include <nanobind/ndarray.h>

namespace nb = nanobind;

namespace uncore {
namespace {

// One column: `field` of every row.
template <class Row, class Field>
nb::object column(const std::vector<Row>& rows, Field field) {
  auto* values = new int64_t[rows.size()];
  const nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<int64_t*>(p); });
  for (std::size_t i = 0; i < rows.size(); ++i) values[i] = static_cast<int64_t>(field(rows[i]));
  return nb::cast(nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>(values, {rows.size()}, owner));
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

}  // namespace uncore
