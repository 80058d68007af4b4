// A summary of an attribution's rows: their sums by line, or by stretches of addresses that have
// one name; and the rows of some lines. There may be a million rows, and a report shows a thousand.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "observe/attribution.hh"
#include "storage/bytes.hh"

namespace uncore {

// A row, with its costs and its kind of operation, which are kept elsewhere.
struct UseRow {
  const Use* use;
  const UseCost* cost;
  int64_t kind;
};
// Returns the rows of all lines, or of those with these numbers.
std::vector<UseRow> rows_of(const Attribution&, const std::optional<std::vector<uint64_t>>& lines);

// Stretches of addresses that have one name: before, between and after the edges.
struct Stretches {
  std::vector<uint64_t> edges;        // addresses, in ascending order
  std::vector<bool> reported_singly;  // for each stretch: are its addresses reported one by one?
  uint64_t part = 1;                  // bytes of a line that a bit of a mask stands for
};

// The sum of the rows of one line that belong together.
struct Sum {
  uint64_t line;
  uint64_t firsts = 0;  // a bit for the first part that each row touches (0 if none)
  uint64_t reads = 0, writes = 0;
  UseCost cost = {};
};

// A row that waited, and the index of its sum.
struct Waited {
  uint64_t sum;
  uint64_t pc;
  uint32_t callers;
  Time waited, critical;
};

struct Summary {
  // Sums of rows within the region of interest, line by line and stretch by stretch. They include
  // the part of the critical path in other rows, those of harts that have still to enter the
  // region.
  std::vector<Sum> sums;
  std::vector<Sum> others;      // sums of all other rows, by line
  std::vector<Waited> waiting;  // rows in `sums`
};
Summary summary(const Attribution&, const Stretches&);

}  // namespace uncore
