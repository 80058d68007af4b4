// A core: harts that share private caches, and the client of the coherence protocol.
//
// The member objects (Turns, Sleep, ...) implement the rules of a core. Each owns the state of its
// rule and reaches the other objects through the core. The class itself only dispatches: turns of
// harts, messages, interrupts. Rules are cited by their numbers in docs/model.md.
//
// Invariant: an access at time t sees exactly the messages that reached the core at or before t
// (T3).
#pragma once

#include <memory>
#include <string>

#include "core/caches.hh"
#include "core/contended_lines.hh"
#include "core/context.hh"
#include "core/far_atomics.hh"
#include "core/incoming_probes.hh"
#include "core/lines.hh"
#include "core/load_store_unit.hh"
#include "core/loads_ahead.hh"
#include "core/locks.hh"
#include "core/observed.hh"
#include "core/sleep.hh"
#include "core/stores.hh"
#include "core/thread.hh"
#include "core/turns.hh"
#include "core/waiting.hh"

namespace uncore {

struct CoreSpec;

class Core {
 public:
  Core(const CoreContext& context, Agent agent, Lookahead lookahead);

  const CoreContext& context;  // shared by all cores
  const Agent agent;
  const CoreSpec& spec;
  Threads threads;
  bool confined = false;  // set during run_confined(): the core touches nothing outside itself
  Lines lines;
  Observed observed;

  // The rules. LoadsAhead (C10) has only static functions; its state is in the threads.
  Turns turns;               // H6: order of the harts' turns; S2: how far they run ahead
  Sleep sleep{*this};        // S1: spinning harts
  LoadStoreUnit lsu{*this};  // H1, H5: accesses
  const std::unique_ptr<Stores>
      stores;                       // H3, H4: store buffers under TSO; H8: under the weak order
  Waiting waiting{*this};           // H5: harts that wait for memory
  Caches caches;                    // A5, C1, C5: lookups, fills, evictions
  IncomingProbes probes{*this};     // C2 to C4: answers to probes, and what delays them
  Locks locks{*this};               // C6: atomics lock lines; C7: reservations
  FarAtomics far_atomics{*this};    // C8: atomics that the resolver performs
  ContendedLines contended{*this};  // C9: siblings take turns with a line

  void add_thread(Code& code, uint32_t id);
  void start();

  uint64_t instructions() const;  // number that all harts of the core have retired
  // Returns true if events of the core at `now` count in the results: one of its harts is being
  // measured then (W1.1).
  bool counts(Time now) const;
  void run(Time now);  // executes harts from `now` on, up to the horizon (S2)
  // Executes harts up to `horizon` while other host threads execute other cores. Returns false if
  // it stopped before an action that concerns more than this core; no part of that action has been
  // performed.
  bool run_confined(Time horizon);
  void receive(Packet& packet, Time now);  // called when a message reaches the core
  void leave(Thread& thread, Time now);    // called when a store may leave the hart's buffer
  void interrupt(const Interrupts::Pending& pending,
                 Time now);  // called when a pending bit of a hart changes
  void end_run(Thread& thread, End::Cause cause, int code, std::string reason = {});

  // Applies the effects of a write at `now` on the core's harts, before the bytes change. Sleeping
  // harts are advanced first, because they must read the old bytes.
  void before_write(Line& line, Time now, const Thread& by) {
    if (line.watchers) sleep.wake_watchers(line, now);
    before_write_to_plain(line, by);
    if (line.is(StoreObstacle::reserved)) [[unlikely]]
      locks.lose_reservations(line, now, by);
  }
  // Does the work of before_write() for a line that is plain(): no hart watches it or has reserved
  // it.
  void before_write_to_plain(const Line& line, const Thread& by) {
    turns.disturb();
    LoadsAhead::overtake(by, line.number);
  }
  // Applies the effects of the loss of a line's copy on the core's harts.
  void lose(uint64_t number, Time now) {
    locks.lose_reservations(number, now);
    LoadsAhead::note_loss(threads, number);
  }

 private:
  void run_thread(const Turns::Turn& turn);
  void serve(Thread& thread);
  void cease_to_pause(Thread& thread);
  void stopped(Thread& thread, Stop stop);
};

}  // namespace uncore
