// The random test: many cores, several levels, a few lines, all orders of messages.
//
//   Trial t = trial(protocol, tree, lines, operations, seed, tick);
//
// Cores load and store words of the same few lines (false sharing) and evict them, resolvers evict
// and recall, and the network delivers in an order that changes its mood: any message, the newest
// first, the oldest first, or one agent starved. Checked are the invariants of system.hh, against
// the golden copy of every line, and that everything comes to rest now and then. The same seed
// gives the same trial, which is how a violation's last steps are told.
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
