// A core's private caches in time: lines that accesses use and ask for (C1), answers that fill
// them, and evictions that make room for those (A5, C5). Requests leave after a lookup (H5).
//
// The client (coherence/client.hh) decides what is done with a line; Lines holds the lines, and
// the order of their use.
//
//   find_or_request() before an access, receive() an answer; send() whatever leaves the core
//
// Invariant: every message of the core leaves through send(), so what may come back is expected.
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

  // Returns the line, with the right that `wish` needs; null: the access must wait (caches.cc).
  // `line`: the line of this number, null if the core has none. Sets `cost` to the time of a lookup
  // beyond the first level.
  Line* find_or_request(const Thread& thread, uint64_t number, Line* line, ClientEvent wish,
                        Time now, Time& cost);
  // `line`: the line that the answer is about.
  void receive(const Packet& answer, Line* line, Time now);

  // Returns when a message leaves that needs a lookup in the second level first: at once if the
  // line is made free of cost (docs/whatif.md).
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
  Time delayed(const Msg& request, Time leaves);

  Core& core_;
  const bool prefetches_neighbours_;  // C11
  const Draws draws_;                 // additional delays of requests (V4)
  const Time hold_play_;              // time by which a hold may be shorter or longer (V5)
  const Draws hold_draws_;            // from 0 to twice hold_play_
  Time last_amo_ = 0;       // when the last far atomic left: no other leaves before it (V4.2)
  uint32_t requests_ = 0;   // number of requests so far, which is the last one's number
  uint32_t under_way_ = 0;  // lines that have been asked for, and have not come (H9, C11)
};

}  // namespace uncore
