// A core: harts that share private caches, and the client of the coherence protocol.
//
// It orders memory: store buffers drain in order (TSO), AMO, LR, SC and fences wait for them; a
// line just won exclusively is held for `hold`, and is one hart's alone while others wait for it;
// an atomic locks its line while it is under way, an LR until its SC, against probes and against
// the core's other harts. It owns its harts' time: a hart runs ahead of the engine only as far as
// no message can reach this core (rule S2), and a hart that spins on unchanged lines sleeps until
// one changes (rule S1).
//
// Invariant: an access at time t sees exactly the messages that reached the core at or before t.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/lines.hh"
#include "core/observed.hh"
#include "core/surroundings.hh"
#include "core/thread.hh"
#include "core/turns.hh"
#include "time/chance.hh"

namespace uncore {

class Core {
 public:
  using Msg = Message<Bytes>;

  Core(const CoreSurroundings& around, Agent agent, Time reach);

  const CoreSurroundings& around;  // all cores'
  const Agent agent;
  const CoreSpec& spec;
  std::vector<std::unique_ptr<Thread>> threads;
  Lines lines;
  Observed observed;
  Turns turns;

  void add_thread(Code& code, uint32_t id);
  void start();

  void run(Time now);                      // executes as far as the horizon allows
  void receive(PacketId id, Time now);     // a message reached the core
  void reconsider(PacketId id, Time now);  // a deferred probe's time has come
  void interrupt(const Interrupts::Pending& pending, Time now);  // one of its harts
  void leave(Thread& thread, Time now);  // a store's time in the buffer is over

  // What the port's slow path needs. True: performed; false: it stays pending.
  bool perform(Thread& thread, const Access& access, Time now, Outcome& outcome);
  void answered(Thread& thread, Pair value, Time now);
  void unlock(Thread& thread, Time now) {  // the LR's lock ends: SC, next atomic, trap
    if (thread.locked != Thread::kNoLine) [[unlikely]]
      end_lock(thread, now);
  }
  bool reserves(Thread& thread, Line& line, Time now);
  bool unlocks_alone(Thread& thread, Time now);
  void written(Line& line, Time now, const Thread& by);
  // Where nobody sleeps on it.
  void written_awake(Line& line, const Thread& by) {
    turns.disturb();
    by.overtakes(line.number);
    if (line.reserved) [[unlikely]]
      take_reservations(line, by);
  }

  void end_run(Thread& thread, End::Cause cause, int code, std::string reason = {});

  class AtLine;  // the client's environment (core/at_line.hh)

 private:
  void take_reservations(Line& line, const Thread& by);
  static bool looks_again(Thread& thread, const Access& a);
  Line* ready(const Thread& thread, uint64_t number, ClientEvent wish, Time now, Time& cost);
  void use(Line& line, Time now);
  // A line of the L1 that the core has alone is used to be written.
  void take(Line& line, Time now) {
    line.copy.state = around.protocol.client(line.copy.state, ClientEvent::Store).next();
    lines.touch(line, now, turns.user());
  }
  // When what it looked up in its caches leaves; at once if the line is free (docs/whatif.md).
  Time looked_up(uint64_t number, Time now) const {
    return around.map.free(number) ? now : now + spec.l2_hit;
  }
  void send(const Msg& message, Time leaves);
  bool reach_register(Thread& thread, const Access& a, Time now, Outcome& out);
  bool store(Thread& thread, const Access& a, Time now, Outcome& out);
  bool load(Thread& thread, const Access& a, Time now, Outcome& out);
  bool begin_atomic(Thread& thread, const Access& a, Time now, Outcome& out);
  bool apply_in_l1(Thread& thread, const Access& a, Line& line, Time now, Outcome& out);
  bool fail(Thread& thread, const Access& a, Time now, Outcome& out);
  bool in_cache(Thread& thread, const Access& a, Time now, Outcome& out);
  void apply(Thread& thread, const Access& a, Line& line, Time now, Outcome& out);
  void operate(Thread& thread, const Access& a, Line& line, Time now, Outcome& out);
  void apply_weakly(Thread& thread, const Access& a, Line& line, Time now, Outcome& out);
  bool is_open(const Thread& thread, const Line& line, Time now) const;
  bool may_begin(Thread& thread, const Line& line, Time now);
  bool is_behind(const Thread& thread, uint64_t number, Time now) const;
  void lock(Thread& thread, Line& line, Time until);
  void reserve(Thread& thread, Line& line, Time now, Time cost);
  void end_attempt(Thread& thread, Time now);
  void end_lock(Thread& thread, Time now);
  uint32_t ask_far(const Access& a, Time now);
  void answered(const Msg& m, Time now);
  void probe(PacketId id, Line* line, Time now);
  Time deferral(const Msg& m, const Line* line) const;
  void defer(PacketId id, Line* line, Time until);
  void schedule_retry(PacketId id, Time when);
  void probed(Line& line, Time now);
  void put_away(Line& line, Time now);
  void fill(const Packet& packet, Line& line, Time now);
  void make_room(const Line& incoming, Time now);
  void evict(Line& victim, Time now);
  void lost(uint64_t number);
  void progress(uint64_t number, Time now);  // a line changed: whoever waits for it tries again
  void pass(uint64_t number, uint32_t first, Time now);
  Thread* next_waiting(uint64_t number, const Thread* after) const;
  void drain(Thread& thread, Time now);
  bool drain_store(Thread& thread, std::size_t older, Time now);
  bool drain_atomics(Thread& thread, Time now);
  bool goes_far(uint64_t number);
  bool buffer(Thread& thread, const Store& store, Time now);
  bool leaves(const Thread& thread, uint64_t number) const;
  bool store_weakly(Thread& thread, const Access& a, Time now);
  void note(const Thread& thread, const Access& a, Time seen) const;
  void keep(const Thread& thread, Time until);
  void release(Thread& thread, Time now);
  void seen(const Thread& thread, const Store& store, const Line& line, Time now) const;
  void ask_ahead(const Thread& thread, uint64_t number, Time now);
  bool post(Thread& thread, const Access& a, Time now);
  void attempt(Thread& thread, Time now);
  void waits(Thread& thread, Time now, uint32_t by);
  void resume(Thread& thread, Pair value, Time now);
  void retry_stalled(uint64_t number, Time now);

  void run_thread(const Turns::Turn& turn);
  void serve(Thread& thread);
  void stopped(Thread& thread, Stop stop);

  Time later(const Msg& request, Time leaves);

  const Draws draws_;     // how late its requests leave
  const Time hold_play_;  // how much shorter or longer a line may stay
  const Draws hold_draws_;
  Time last_amo_ = 0;           // when it left
  const std::size_t capacity_;  // of a hart's store buffer
  uint32_t requests_ = 0;
  std::vector<PacketId> stalled_;  // probes that wait for a line's state, hold or lock
};

}  // namespace uncore
