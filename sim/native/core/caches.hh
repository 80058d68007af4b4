// The timing of a core's private caches: accesses look up and request lines (C1), answers fill
// them, and evictions make room (A5, C5). Requests leave after a lookup (H5).
//
// The client (coherence/client.hh) decides the state changes of a line; Lines holds the lines and
// their order of use.
//
//   find_or_request() before an access; receive() for an answer; send() for all that leaves the
//   core
//
// Invariant: every protocol message of the core leaves through send(), so that Turns knows when an
// answer may come back.
#pragma once

#include "core/context.hh"
#include "core/lines.hh"
#include "core/thread.hh"
#include "time/chance.hh"

namespace uncore {

class Core;
struct CoreSpec;

class Caches {
 public:
  using Msg = Message<Bytes>;

  Caches(Core& core, const CoreSpec& spec, const JobSpec& job, Agent agent);

  // Returns the line if the core has the right that `wish` needs; null if the access must wait
  // (caches.cc). `line`: the core's line of this number, or null. Sets `cost` to the time that the
  // lookup takes beyond the first level.
  Line* find_or_request(const Thread& thread, uint64_t number, Line* line, ClientEvent wish,
                        Time now, Time& cost);
  // Handles an answer; `line` is the line that it is about.
  void receive(const Packet& answer, Line* line, Time now);

  // Returns when a message can leave that needs a lookup in the second level first. It leaves at
  // once if a what-if study makes the line free of cost (docs/whatif.md).
  Time looked_up(uint64_t number, Time now) const;
  uint32_t next_request() { return ++requests_; }
  uint32_t under_way() const { return under_way_; }
  void send(const Msg& message, Time leaves);

 private:
  void ask_for_neighbour(const Thread& thread, uint64_t number, ClientEvent wish, Time now);
  void use(Line& line, Time now);
  void make_room_in_l1(const Line& incoming, Time now);
  [[gnu::always_inline]] void granted(const Packet& packet, Line& line, Time now);
  void hold(Line& line, const Msg& grant, Time now);
  [[gnu::noinline]] void put_away(Line& line, Time now);
  void make_room(const Line& incoming, Time now);
  [[gnu::noinline]] void evict(Line& victim, Time now);
  Time delayed_departure(const Msg& request, Time leaves);

  Core& core_;
  const bool prefetches_neighbours_;  // rule C11: prefetch of the adjacent line
  const Draws draws_;                 // random delays of requests (V4)
  const Time hold_play_;    // a hold is shorter or longer by at most this time, at random (V5)
  const Draws hold_draws_;  // draws from 0 to twice hold_play_
  // when the last far atomic left; later ones do not leave before that time (V4.2)
  Time last_amo_ = 0;
  uint32_t requests_ = 0;   // number of requests so far, which is also the id of the last one
  uint32_t under_way_ = 0;  // number of requested lines that have not arrived yet (H9, C11)
};

}  // namespace uncore
