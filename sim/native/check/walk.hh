// The exhaustive walk: visits every state that one line, or two, can reach in a small machine, and
// checks it.
//
//   Walk w = walk(protocol, tree, limits, tick);
//
// In every state it checks the invariants of system.hh, and that work under way can always come to
// rest without new work (no deadlock, no livelock without a way out). It reports a violation with
// the shortest sequence of steps that shows it, and the cells reached by their positions in the
// packed tables.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "check/tree.hh"
#include "check/watched.hh"

namespace uncore::check {

struct Limits {
  uint64_t states = 50'000'000;
  int depth = 1'000'000;
  int lines = 1;  // 1, or 2 lines in cores with room for one (two_lines.hh)
};

struct Walk {
  uint64_t states = 0, transitions = 0;
  int depth = 0;         // the deepest state's, in steps from rest
  bool complete = true;  // false: a limit ended it
  std::string violation;
  std::vector<std::string> trace;
  std::vector<uint32_t> reached;  // cells
};

// `tick` is called now and then with the states found; false ends the walk.
Walk walk(const Protocol& protocol, const Tree& tree, const Limits& limits,
          const std::function<bool(uint64_t)>& tick);

}  // namespace uncore::check
