// Summarizes the rows of an attribution, because there may be a million rows while a report shows a
// thousand. summary() adds up the rows of each line and of each stretch of addresses that has one
// name; rows_of() selects the rows of some lines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "observe/attribution.hh"
#include "storage/bytes.hh"

namespace uncore {

// A row together with its costs and its kind of operation, which are stored separately.
struct UseRow {
  const Use* use;
  const UseCost* cost;
  int64_t kind;
};
// Returns the rows of all lines, or only of the lines with the given numbers.
std::vector<UseRow> rows_of(const Attribution&, const std::optional<std::vector<uint64_t>>& lines);

// A division of the addresses into stretches that have one name each, such as a variable: one
// stretch before the first edge, one between each two neighbouring edges, and one after the last.
struct Stretches {
  std::vector<uint64_t> edges;        // addresses, in ascending order
  std::vector<bool> reported_singly;  // for each stretch: whether each part has a sum of its own
  uint64_t part = 1;                  // bytes of a line that one bit of a mask stands for
};

// The sum of the rows that belong to one line and one stretch.
struct Sum {
  uint64_t line;
  uint64_t firsts = 0;  // mask of the first part that each row touches (part 0 if it touches none)
  uint64_t reads = 0, writes = 0;
  UseCost cost = {};
};

// A row in which a hart waited, or that is on the critical path, and the index of its sum.
struct WaitRow {
  uint64_t sum;
  uint64_t pc;
  uint32_t callers;
  Time waited, critical;
};

struct Summary {
  // Sums of the rows within the region of interest, by line and stretch. A row outside the region
  // adds only its share of the critical path.
  std::vector<Sum> sums;
  std::vector<Sum> others;  // sums of the rows outside the region, by line
  // The rows added to `sums` in which a hart waited, or that are on the critical path.
  std::vector<WaitRow> waiting;
};
Summary summary(const Attribution&, const Stretches&);

}  // namespace uncore
