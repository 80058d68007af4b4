// The counters of a run, among them the transfers of lines, counted by the source of the data.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/failed_scs.hh"
#include "spec/agents.hh"
#include "storage/line_map.hh"

namespace uncore {

class Counters {
 public:
  Counters(const MachineSpec& machine, const Agents& agents);

  uint64_t events = 0;  // number of events other than crossings of channels
  uint64_t transactions = 0;
  uint64_t runs = 0;           // runs of cores; their number depends on how far cores run ahead
  uint64_t invalidations = 0;  // copies that ProbeM or Inv have invalidated
  std::vector<uint64_t> transfers_between;  // fills from another core, by number of common levels
  std::vector<uint64_t> transfers_stored;   // fills from a resolver's data, by resolver
  uint64_t transfers_memory = 0;
  uint64_t cold_misses = 0;             // first transfers of lines from memory
  LineMap<uint64_t> transfers_by_line;  // fills, by line
  FailedScs scs;

  // Counts a fill: core `to` got a line's data from `from`. If `counts` is false, the fill is in no
  // measured operation and is not counted, but a later fill of the line from memory is not cold.
  void transferred(Agent to, Agent from, uint64_t line, bool counts);

 private:
  bool mark_fetched(uint64_t line);  // returns whether this is the line's first fetch

  static constexpr unsigned kBlockShift = 6;  // log2 of the lines of a block
  LineMap<uint64_t> fetched_;                 // block -> mask of its lines that memory has sent
  const std::vector<std::vector<int32_t>>& shape_;
  const Agents& agents_;
};

}  // namespace uncore
