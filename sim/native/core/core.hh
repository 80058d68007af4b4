// A core: harts that share private caches, and the client of the coherence protocol.
//
// A core is a list of rules. Each is an object that owns its state and reaches the others through
// the core. The class itself only starts things: a hart's turn, a message, an interrupt. Rules are
// cited by their numbers in docs/model.md.
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
  Core(const CoreContext& context, Agent agent, Lookahead ahead);

  const CoreContext& context;  // shared by all cores
  const Agent agent;
  const CoreSpec& spec;
  Threads threads;
  bool confined = false;  // set during run_confined(): the core touches nothing outside itself
  Lines lines;
  Observed observed;

  // The rules. LoadsAhead (C10) has no object: its state is in the threads.
  Turns turns;                           // H6: harts by turns; S2: how far ahead
  Sleep sleep{*this};                    // S1: spinning harts
  LoadStoreUnit lsu{*this};              // H1, H5: accesses
  const std::unique_ptr<Stores> stores;  // H3, H4: store buffers in order; H8: weakly ordered
  Waiting waiting{*this};                // H5: harts that wait for a line
  Caches caches;                         // A5, C1, C5: lines that come and go
  IncomingProbes probes{*this};          // C2 to C4: what probes do, and wait for
  Locks locks{*this};                    // C6: atomics lock lines; C7: reservations
  FarAtomics far{*this};                 // C8: atomics done at the resolver
  ContendedLines contended{*this};       // C9: siblings take turns with a line

  void add_thread(Code& code, uint32_t id);
  void start();

  uint64_t instructions() const;  // retired by all its harts
  // Is what happens to the core at `now` counted? It is while one of its harts is measured (W1.1).
  bool counts(Time now) const;
  void run(Time now);  // executes as far as the horizon allows
  // Executes up to `horizon`, while other host threads execute other cores. Returns false if what
  // comes next concerns more than this core; nothing of it has been done then.
  bool run_confined(Time horizon);
  void receive(Packet& packet, Time now);  // a message reached the core
  void leave(Thread& thread, Time now);    // a store's time in the buffer is over
  void interrupt(const Interrupts::Pending& pending, Time now);  // a pending bit of a hart changed
  void end_run(Thread& thread, End::Cause cause, int code, std::string reason = {});

  // Applies the effects of a write at `now` on the core's harts, before the bytes change. Sleepers
  // come first: they must read the old bytes.
  void before_write(Line& line, Time now, const Thread& by) {
    if (line.watchers) sleep.wake_watchers(line, now);
    before_write_to_plain(line, by);
    if (line.is(Special::reserved)) [[unlikely]]
      locks.lose_reservations(line, now, by);
  }
  // The same for a line that is plain(): nobody watches or reserves it.
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
