// The random test: many cores, several levels, a few lines, all orders of messages.
//
//   Trial t = trial(protocol, tree, lines, operations, seed, tick);
//
// Cores load and store words of the same few lines (false sharing) and evict them, resolvers evict
// and recall, and the network's order of delivery changes at random: any message, the newest first,
// the oldest first, or one agent starved. The test checks the invariants of system.hh, against the
// golden copy of every line, and that all work comes to rest when it is left to. The same seed
// gives the same trial, so a second one reports the last steps before a violation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "check/tree.hh"
#include "check/watched.hh"

namespace uncore::check {

struct Trial {
  uint64_t operations = 0;  // loads and stores performed and checked
  uint64_t steps = 0;
  std::string violation;
  std::vector<std::string> trace;
  std::vector<uint32_t> reached;  // cells
};

// `tick` is called now and then with the operations performed; false ends the trial.
Trial trial(const Protocol& protocol, const Tree& tree, int lines, uint64_t operations,
            uint64_t seed, const std::function<bool(uint64_t)>& tick);

}  // namespace uncore::check
