// The exhaustive walk: every state one line, or two, can reach in a small machine, and what holds
// in each.
//
//   Walk w = walk(protocol, tree, limits, tick);
//
// Checked in every state: the invariants of system.hh, and that work under way can always come to
// rest without new work (no deadlock, no livelock without a way out). A violation comes with the
// shortest sequence of steps that shows it. Cells met are counted by position in the packed tables.
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
  int lines = 1;  // or 2, for which the cores have room for one (two_lines.hh)
};

struct Walk {
  uint64_t states = 0, transitions = 0;
  int depth = 0;         // of the deepest state, in steps from rest
  bool complete = true;  // false: a limit ended it
  std::string violation;
  std::vector<std::string> trace;
  std::vector<uint32_t> reached;  // cells
};

// `tick` is called now and then with the states found; false ends the walk.
Walk walk(const Protocol& protocol, const Tree& tree, const Limits& limits,
          const std::function<bool(uint64_t)>& tick);

}  // namespace uncore::check
