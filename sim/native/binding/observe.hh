// Records of a run's observers as Python values; None for those that the job did not ask for.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine.hh"

namespace uncore {

// The transaction log (L9) without `id`: `op` and `right` are positions in `protocol_names()`.
nanobind::object log_columns(const Engine& engine);

// The attribution without its rows: what was passed on by line and pair of agents, invalidations by
// line, and what all harts have waited.
nanobind::object line_columns(const Engine& engine);

// The rows of the attribution, of the lines at these addresses or of all.
nanobind::object use_columns(const Engine& engine,
                             const std::optional<std::vector<uint64_t>>& lines);

// The attribution's sums, those of other rows, and its waiting rows (observe/summary.hh).
nanobind::object summary_columns(const Engine& engine, std::vector<uint64_t> edges,
                                 std::vector<bool> apart, uint64_t part);

// The trace: a dict of columns for each kind of event; times that have not come are -1.
nanobind::object trace_columns(const Engine& engine);

}  // namespace uncore
