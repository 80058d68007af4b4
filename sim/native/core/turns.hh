// A core in time: which of its harts executes, how far, and what waiting costs: nothing.
//
// Harts take turns by their clocks, and share the issue width (rule H6). They run ahead of the
// engine only as far as no message can reach the core (rule S2). A hart that spins on lines it can
// read sleeps (rule S1). While it sleeps those lines are *watched*: whoever takes one away or
// writes to it first brings the sleeper to where executing every turn would have brought it, and
// wakes it. Siblings may go on meanwhile; when the share of the issue width changes, sleepers are
// brought up to that time and their period is corrected.
//
// Interface: begin() at the event that schedule_next() asks for, then next() and execute() by
// turns; the core tells what may concern a hart: disturb(), shorten(), may_run(), share_issue(),
// and who changes a line wake_watchers().
#pragma once

#include <memory>
#include <vector>

#include "core/lines.hh"
#include "core/surroundings.hh"
#include "core/thread.hh"

namespace uncore {

class Turns {
 public:
  using Threads = std::vector<std::unique_ptr<Thread>>;

  // `reach`: the least time any message takes to get here.
  Turns(const CoreSurroundings& around, Agent core, const CoreSpec& spec, Time reach,
        const Threads& threads, Lines& lines)
      : around_(around),
        core_(core),
        spec_(spec),
        reach_(reach),
        threads_(threads),
        lines_(lines) {}

  void schedule_next();
  void begin(Time now) { horizon_ = std::max(now, horizon(now)); }

  struct Turn {
    Thread* thread;  // null: none goes on
    Time end;
  };
  Turn next() const;
  // Up to the horizon or the end of the turn; two harts of a core go on by turns. Who stops, and
  // why.
  struct Stopped {
    Thread* thread;
    Stop why;
  };
  Stopped execute(const Turn& turn);
  // Something is done for a hart, as if it executed.
  class As {
   public:
    As(Turns& turns, Thread& thread) : turns_(turns) { turns.executing_ = &thread; }
    ~As() { turns_.executing_ = nullptr; }
    As(const As&) = delete;

   private:
    Turns& turns_;
  };

  // The hart that executes; by default the lowest, and its position behind a message's, 0.
  uint32_t actor() const { return executing_ ? executing_->index : 0; }
  uint32_t user() const { return executing_ ? executing_->index + 1 : 0; }

  // What a hart reads, or how long it takes, may have changed.
  void disturb() { ++disturbances_; }
  // Something may reach this core at `then`: no hart of it may pass that time.
  void shorten(Time then);
  // Something leaves the core at `when`, and may come back.
  void sent(Time when) { shorten(when + reach_ - 1); }
  // The hart may execute from its clock on: after the one that does, if they are siblings.
  void may_run(const Thread& thread);
  // How long takes what a hart alone would execute in `alone` (rules H6.1, I2).
  Time shared(Time alone) const { return active_ > 1 ? alone * 1000 / spec_.smt_share : alone; }
  // The number of harts that execute may have changed at `at`, through thread `by`.
  void share_issue(Time at, uint32_t by);

  // --- sleep ---
  void spun(Thread& thread);  // it repeats itself
  void wake(Thread& sleeper, Time at) { wake_until(sleeper, before(at, 0, sleeper)); }
  void wake_watchers(const Line& line, Time at);  // it is about to change
  void wake_lockers(const Line& line, Time at);   // somebody may wait for the end of a lock
  void wake_all(Time at);                         // what they did until then can be read now
  // The same, but they sleep on: all, if one of them reads a line of the sets where this belongs.
  void advance_readers(uint64_t number, Time at);

 private:
  static Stop run(Thread& thread);
  Stopped alternate(const Turn& turn);
  static Time before(Time at, uint32_t by, const Thread& sleeper);
  Time horizon(Time now) const;
  bool locks_alone(const Line& line) const;
  void advance(Thread& sleeper, Time horizon);
  void wake_until(Thread& sleeper, Time horizon);

  const CoreSurroundings& around_;
  const Agent core_;
  const CoreSpec& spec_;
  const Time reach_;
  const Threads& threads_;
  Lines& lines_;
  Time horizon_ = 0;             // how far the harts may go in this run
  Thread* executing_ = nullptr;  // the one that does
  uint64_t disturbances_ = 1;
  int active_ = -1;  // harts that share the issue width
};

}  // namespace uncore
