// The random test: many cores, several levels and a few lines, with messages in random order.
//
//   Trial t = trial(protocol, tree, lines, operations, seed, tick);
//
// Cores load, store and evict words of the same few lines (false sharing), and resolvers evict and
// recall. The order of delivery changes at random: any message, the newest first, the oldest first,
// or no message to one agent. The test checks the invariants of system.hh, compares data with the
// golden copy of each line, and checks that all transactions complete if no access begins. The same
// seed gives the same trial, so a violation is reported by repeating the trial and logging its last
// steps.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "check/recording_protocol.hh"
#include "check/tree.hh"

namespace uncore::check {

struct Trial {
  uint64_t operations = 0;  // loads, stores and atomics performed and checked
  uint64_t steps = 0;
  std::string violation;
  std::vector<std::string> trace;
  std::vector<uint32_t> reached;  // cells that were used, as positions in the packed tables
};

// Runs a trial. `tick` is called now and then with the number of operations performed; if it
// returns false, the trial ends.
Trial trial(const Protocol& protocol, const Tree& tree, int lines, uint64_t operations,
            uint64_t seed, const std::function<bool(uint64_t)>& tick);

}  // namespace uncore::check
