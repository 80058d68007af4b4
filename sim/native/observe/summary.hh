// The rows of an attribution in few: summed up by line, or by stretches of addresses that go by one
// name; and those of some lines alone. There may be a million rows, and a report shows a thousand.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "observe/attribution.hh"
#include "storage/bytes.hh"

namespace uncore {

// A row, with what is kept of it elsewhere.
struct UseRow {
  const Use* use;
  const UseCost* cost;
  int64_t kind;
};
// Of all lines, or of those with these numbers.
std::vector<UseRow> rows_of(const Attribution&, const std::optional<std::vector<uint64_t>>& lines);

// Where names change: a stretch lies before, between or behind two edges.
struct Stretches {
  std::vector<uint64_t> edges;  // addresses, which rise
  std::vector<bool> apart;      // of each stretch: are its addresses told one by one?
  uint64_t part = 1;            // bytes of a line that a bit of a mask stands for
};

// What rows have in common, summed up.
struct Sum {
  uint64_t line;
  uint64_t firsts = 0;  // the first part that each has touched, a bit each; of none, the line's
  uint64_t reads = 0, writes = 0;
  UseCost cost = {};
};

// A row that waited, and the sum that it is in.
struct Waited {
  uint64_t sum;
  uint64_t pc;
  uint32_t callers;
  Time waited, critical;
};

struct Summary {
  // Of rows within the region of interest, of a line stretch by stretch; and what others, of a hart
  // that has still to enter it, have of the critical path.
  std::vector<Sum> sums;
  std::vector<Sum> others;      // of all other rows, by line
  std::vector<Waited> waiting;  // in `sums`
};
Summary summary(const Attribution&, const Stretches&);

}  // namespace uncore
