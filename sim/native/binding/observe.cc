// Converts the log, the trace and the attribution of a run to Python; a column is a NumPy array.
#include "binding/observe.hh"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <type_traits>

#include "observe/columns.hh"

namespace nb = nanobind;

namespace uncore {
namespace {

// Returns an array with `field` of every row.
template <class Row, class Field>
nb::object column(const std::vector<Row>& rows, Field field) {
  using Value = std::conditional_t<std::is_same_v<std::invoke_result_t<Field, const Row&>, Wide>,
                                   uint64_t, int64_t>;
  auto* values = new Value[rows.size()];
  const nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<Value*>(p); });
  for (std::size_t i = 0; i < rows.size(); ++i) values[i] = static_cast<Value>(field(rows[i]));
  return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values, {rows.size()}, owner));
}

template <class Row>
nb::dict columns(const std::vector<Row>& rows) {
  nb::dict d;
  each_column(rows, [&](const char* name, auto field) { d[name] = column(rows, field); });
  return d;
}

}  // namespace

nb::object trace_columns(const Engine& engine) {
  if (!engine.trace) return nb::none();
  nb::dict d;
  each_table(*engine.trace, [&](const char* name, const auto& rows) { d[name] = columns(rows); });
  return d;
}

nb::object log_columns(const Engine& engine) {
  if (!engine.log) return nb::none();
  return columns(engine.log->records());
}

nb::object line_columns(const Engine& engine) {
  if (!engine.attribution) return nb::none();
  const auto invalidations = engine.attribution->copies.invalidations();
  nb::dict taken;
  taken["line"] = column(invalidations, [](const auto& i) { return i.first << kUnitShift; });
  taken["times"] = column(invalidations, [](const auto& i) { return i.second; });
  nb::dict d;
  d["callers"] = columns(engine.attribution->chains.all());
  d["allocations"] = columns(engine.attribution->allocations);
  d["passed"] = columns(engine.attribution->copies.passed_lines());
  d["invalidations"] = taken;
  d["waited_ps"] = engine.attribution->waited_in_all;
  d["path_ps"] = engine.attribution->path.length();
  return d;
}

nb::object use_columns(const Engine& engine, const std::optional<std::vector<uint64_t>>& lines) {
  if (!engine.attribution) return nb::none();
  std::optional<std::vector<uint64_t>> numbers = lines;
  if (numbers)
    for (uint64_t& line : *numbers) line >>= kUnitShift;
  return columns(rows_of(*engine.attribution, numbers));
}

nb::object summary_columns(const Engine& engine, std::vector<uint64_t> edges,
                           std::vector<bool> reported_singly, uint64_t part) {
  if (!engine.attribution) return nb::none();
  if (reported_singly.size() != edges.size() + 1)
    throw nb::value_error("apart: one for each stretch");
  const Summary found =
      summary(*engine.attribution, {std::move(edges), std::move(reported_singly), part});
  return nb::make_tuple(columns(found.sums), columns(found.others), columns(found.waiting));
}

}  // namespace uncore
