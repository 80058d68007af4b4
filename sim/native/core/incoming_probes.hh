// Rules C2 to C4: what a probe that reaches a core does to its line, and what it waits for.
//
// An early probe waits for the grant that it revokes; one of an owned line for its hold, and for
// the atomic that locks it.
//
//   arrive() a message, ask_again() at the end of a wait; granted() and lock_ended() where
//   something else may end one
//
// Invariant: `line.stalled` is the number of probes here that wait for the line.
#pragma once

#include <vector>

#include "core/lines.hh"
#include "fabric/network.hh"

namespace uncore {

class Core;

class IncomingProbes {
 public:
  explicit IncomingProbes(Core& core) : core_(core) {}

  void arrive(PacketId id, Line* line, Time now);
  void ask_again(PacketId id, Time now);  // its time has come
  void granted(uint64_t number, Time now);
  void lock_ended(Line& line, Time now);

 private:
  using Msg = Message<Bytes>;
  void answered(Line& line, Time now);
  Time deferral(const Msg& m, const Line* line) const;
  void defer(PacketId id, Line* line, Time until);
  void schedule(PacketId id, Time when);

  Core& core_;
  std::vector<PacketId> stalled_;  // that wait for a line's state, hold or lock
};

}  // namespace uncore
