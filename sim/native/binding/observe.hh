// Functions that return the records of a run's observers as Python values, or None for an observer
// that the job did not request.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine.hh"

namespace uncore {

// Returns the transaction log (L9) without `id`. `op` and `right` are indices into the lists of
// `protocol_names()`.
nanobind::object log_columns(const Engine& engine);

// Returns the attribution without its rows: the transfers by line and pair of agents, the
// invalidations by line, and the time that all harts together have waited.
nanobind::object line_columns(const Engine& engine);

// Returns the rows of the attribution for the lines at these addresses, or for all lines.
nanobind::object use_columns(const Engine& engine,
                             const std::optional<std::vector<uint64_t>>& lines);

// Returns the three tables of a Summary: `sums`, `others` and `waiting`. The other parameters are
// the fields of Stretches (observe/summary.hh).
nanobind::object summary_columns(const Engine& engine, std::vector<uint64_t> edges,
                                 std::vector<bool> reported_singly, uint64_t part);

// Returns the trace: a dict of columns for each kind of event. A time at which nothing has happened
// yet is -1.
nanobind::object trace_columns(const Engine& engine);

}  // namespace uncore
