// A core's private caches in time (rules A5, C1 and C5; H5 for what leaves them): lines that
// accesses use and ask for, answers that fill them, and room for those that come.
//
// What is done with a line is the client's (coherence/client.hh); which lines there are, and which
// was used last, is known to Lines.
//
//   ready() before an access, receive() an answer; send() whatever leaves the core
//
// Invariant: every message of the core leaves through send(), so what may come back is expected.
#pragma once

#include "core/lines.hh"
#include "core/surroundings.hh"
#include "core/thread.hh"
#include "time/chance.hh"

namespace uncore {

class Core;

class Caches {
 public:
  using Msg = Message<Bytes>;

  Caches(Core& core, const CoreSpec& spec, const JobSpec& job, Agent agent);

  // `line`: of this number, null where the core has none.
  Line* ready(const Thread& thread, uint64_t number, Line* line, ClientEvent wish, Time now,
              Time& cost);
  Line* ready(const Thread& thread, uint64_t number, ClientEvent wish, Time now, Time& cost);
  void receive(const Packet& answer, Time now);

  // When what is looked up here leaves; at once if the line is free (docs/whatif.md).
  Time looked_up(uint64_t number, Time now) const;
  uint32_t next_request() { return ++requests_; }
  void send(const Msg& message, Time leaves);

 private:
  void use(Line& line, Time now);
  void make_room_in_l1(const Line& incoming, Time now);
  void granted(const Packet& packet, Line& line, Time now);
  void hold(Line& line, const Msg& grant, Time now);
  void put_away(Line& line, Time now);
  void make_room(const Line& incoming, Time now);
  void evict(Line& victim, Time now);
  Time delayed(const Msg& request, Time leaves);

  Core& core_;
  const Draws draws_;     // how late its requests leave
  const Time hold_play_;  // how much shorter or longer a line may stay
  const Draws hold_draws_;
  Time last_amo_ = 0;  // when it left
  uint32_t requests_ = 0;
};

}  // namespace uncore
