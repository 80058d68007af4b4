// A core: harts that share private caches, and the client of the coherence protocol.
//
// What it does is a list of rules, each an object that owns its state. They reach one another
// through the core; here is only what starts a hart's turn, a message, or an interrupt on its way.
//
// Invariant: an access at time t sees exactly the messages that reached the core at or before t
// (T3).
#pragma once

#include <memory>
#include <string>

#include "core/caches.hh"
#include "core/contended_lines.hh"
#include "core/far_atomics.hh"
#include "core/incoming_probes.hh"
#include "core/lines.hh"
#include "core/load_store_unit.hh"
#include "core/loads_ahead.hh"
#include "core/locks.hh"
#include "core/observed.hh"
#include "core/sleep.hh"
#include "core/stores.hh"
#include "core/surroundings.hh"
#include "core/thread.hh"
#include "core/turns.hh"
#include "core/waiting.hh"

namespace uncore {

class Core {
 public:
  Core(const CoreSurroundings& around, Agent agent, Time reach);

  const CoreSurroundings& around;  // all cores'
  const Agent agent;
  const CoreSpec& spec;
  Threads threads;
  Lines lines;
  Observed observed;

  // The rules; what C10 (LoadsAhead) knows stands in the threads.
  Turns turns;                           // H6, S2
  Sleep sleep{*this};                    // S1
  LoadStoreUnit lsu{*this};              // H1, H5
  const std::unique_ptr<Stores> stores;  // H3, H4; H8
  Waiting waiting{*this};                // H5
  Caches caches;                         // A5, C1, C5
  IncomingProbes probes{*this};          // C2 to C4
  Locks locks{*this};                    // C6, C7
  FarAtomics far{*this};                 // C8
  ContendedLines contended{*this};       // C9

  void add_thread(Code& code, uint32_t id);
  void start();

  void run(Time now);                    // executes as far as the horizon allows
  void receive(PacketId id, Time now);   // a message reached the core
  void leave(Thread& thread, Time now);  // a store's time in the buffer is over
  void interrupt(const Interrupts::Pending& pending, Time now);  // one of its harts
  void end_run(Thread& thread, End::Cause cause, int code, std::string reason = {});

  // What a write at `now` does to the core's harts: first it is as if nobody had slept.
  void writes(Line& line, Time now, const Thread& by) {
    if (line.watchers) sleep.wake_watchers(line, now);
    writes_plain(line, by);
    if (line.is(Special::reserved)) [[unlikely]]
      locks.lose_reservations(line, by);
  }
  // The same, to a plain line.
  void writes_plain(const Line& line, const Thread& by) {
    turns.disturb();
    LoadsAhead::overtake(by, line.number);
  }
  // And what becomes of them where the copy of a line has gone.
  void lose(uint64_t number) {
    locks.lose_reservations(number);
    LoadsAhead::lost(threads, number);
  }

 private:
  void run_thread(const Turns::Turn& turn);
  void serve(Thread& thread);
  void stopped(Thread& thread, Stop stop);
};

}  // namespace uncore
