// The exhaustive walk (explicit-state model checking): visits and checks every state that one line,
// or two lines, can reach in a small machine.
//
//   Walk w = walk(protocol, tree, limits, tick);
//
// In every state it checks the invariants of system.hh, and that all transactions can complete
// without new accesses. So there is no deadlock, and no livelock that no step can leave. It reports
// a violation with the shortest sequence of steps that leads to it, and the cells that were used,
// by their positions in the packed tables.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "check/recording_protocol.hh"
#include "check/tree.hh"

namespace uncore::check {

struct Limits {
  uint64_t states = 50'000'000;
  int depth = 1'000'000;
  int lines = 1;  // 1; or 2, with cores that have room for one line (two_lines.hh)
};

struct Walk {
  uint64_t states = 0, transitions = 0;
  int depth = 0;         // steps from the start to the deepest state
  bool complete = true;  // false: a limit, or `tick`, ended the walk
  std::string violation;
  std::vector<std::string> trace;
  std::vector<uint32_t> reached;  // cells that were used, as positions in the packed tables
};

// Walks until all states are visited or a limit is reached. `tick` is called now and then with the
// number of states found; if it returns false, the walk ends.
Walk walk(const Protocol& protocol, const Tree& tree, const Limits& limits,
          const std::function<bool(uint64_t)>& tick);

}  // namespace uncore::check
