// Rules C2 to C4: the effect of a probe on the core's line, and the events for which it must wait.
//
// An early probe waits for the grant that it revokes (C3). A probe for a line that may be written
// waits for the end of the line's hold, and of the atomic that locks it (C4).
//
//   arrive() when the message arrives, ask_again() when a wait has timed out; grant_arrived()
//   and lock_ended() when something else ends a wait (C4.2)
//
// Invariant: `line.stalled` is the number of this core's probes that wait for the line.
#pragma once

#include <vector>

#include "core/lines.hh"
#include "fabric/network.hh"

namespace uncore {

class Core;

class IncomingProbes {
 public:
  explicit IncomingProbes(Core& core) : core_(core) {}

  void arrive(Packet& packet, Line* line, Time now);
  // Called at the time `packet.retry`. Has no effect if `packet.retry` has changed since then.
  void ask_again(Packet& packet, Time now);
  void grant_arrived(uint64_t number, Time now);
  void lock_ended(Line& line, Time now);

 private:
  using Msg = Message<Bytes>;
  [[gnu::always_inline]] void answered(Line& line, Time now);
  Time deferral(const Msg& m, const Line* line) const;
  void defer(Packet& packet, Line* line, Time until);
  void schedule(const Packet& p, Time when);

  Core& core_;
  std::vector<Packet*> stalled_;  // probes that wait for a line's grant, hold or lock
};

}  // namespace uncore
