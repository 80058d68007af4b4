// Decides which of a core's harts executes next, and how far.
//
// Harts take turns in the order of their clocks, and share the issue width (rule H6). They run
// ahead of the engine only as far as no message can reach the core (rule S2).
//
// Interface: begin() at the event that schedule_next() asks for, then next() and execute()
// alternately. The core's other rules call disturb(), shorten(), let_run() and share_issue() when
// something may affect a hart. Invariant: no hart executes beyond a time at which something may
// reach the core.
#pragma once

#include "core/context.hh"
#include "core/thread.hh"
#include "fabric/lookahead.hh"

namespace uncore {

class Turns {
 public:
  Turns(Core& core, Lookahead lookahead) : core_(core), lookahead_(std::move(lookahead)) {}

  void schedule_next();
  void begin(Time now) { horizon_ = std::max(now, horizon(now)); }
  void begin_until(Time horizon) { horizon_ = horizon; }
  // Returns when a hart executes next; kNever if none does.
  Time next_time() const;
  // Returns how far the core may run at `now` if no other core executes anything until then.
  Time horizon_alone(Time now) const;
  // Returns the least latency, in ps, from an action of another core to its effect on this core.
  Time distance(const Core& other) const;
  // Returns how far the core may run before an action of another core can reach it. `others` gives,
  // for each of the other cores, the time from which on it executes.
  Time horizon_alongside(const Runs& others) const;

  struct Turn {
    Thread* thread;  // null if no hart can execute
    Time end;
  };
  Turn next() const;
  // Executes up to the horizon or the end of the turn. On a core with two harts, also executes
  // their following turns. Returns which hart stopped, and why.
  struct StoppedHart {
    Thread* thread;
    Stop why;
  };
  StoppedHart execute(const Turn& turn);
  // Executes a hart up to hart.horizon, during the turn of another hart or while no hart has a
  // turn.
  Stop run_aside(Thread& thread);
  // A scope in which the core acts on behalf of this hart: the hart counts as the executing one.
  class RunningScope {
   public:
    RunningScope(Turns& turns, Thread& thread) : turns_(turns) { turns.executing_ = &thread; }
    ~RunningScope() { turns_.executing_ = nullptr; }
    RunningScope(const RunningScope&) = delete;

   private:
    Turns& turns_;
  };

  // executes() returns true if this is the hart that executes now. actor() returns that hart's
  // index, or 0 if the core acts for a message. user() returns its index + 1, or 0 for a message,
  // for Lines::touch().
  bool executes(const Thread& thread) const { return executing_ == &thread; }
  uint32_t actor() const { return executing_ ? executing_->index : 0; }
  uint32_t user() const { return executing_ ? executing_->index + 1 : 0; }

  // Records that the values a hart reads, or their latency, may have changed. Loop iterations
  // before and after this call do not count as equal (S1).
  void disturb() { ++disturbances_; }
  // Lowers the horizon to `then`, because something may reach the core after that time.
  void shorten(Time then);
  // Lowers the horizon for a message that leaves the core at `when`: an answer may come back.
  void sent(Time when) { shorten(when + lookahead_.least - 1); }
  // Makes the hart's next turn begin at its clock, where the turn of the executing hart then ends.
  void let_run(const Thread& thread);
  // Returns how long an action of this hart takes at its present share of the issue width, if it
  // takes `time_alone` on an otherwise idle core (rules H6.1, I2).
  Time time_when_shared(const Thread& thread, Time time_alone) const;
  // Recounts the harts that need issue slots, and adapts the costs of instructions. The change is
  // at time `at`, caused by the hart with index `causing_hart`.
  void share_issue(Time at, uint32_t causing_hart);

 private:
  StoppedHart alternate(const Turn& turn);
  Time horizon(Time now) const;
  Time horizon_of_harts(Time now) const;
  Time horizon_in_turn(const Thread& thread, Time end) const;
  Time next_to_come() const;
  Time next_message() const;
  Time latency_from(const Event& event) const;

  Core& core_;
  const Lookahead lookahead_;
  Time horizon_ = 0;             // last time at which a hart of the core may execute in this run
  bool held_up_ = false;         // the horizon ended the last run, so it is worth computing exactly
  Thread* executing_ = nullptr;  // null while the core acts for a message
  uint64_t disturbances_ = 1;    // number of calls of disturb(), plus 1
  int active_ = -1;              // number of harts that need issue slots; -1: not counted yet
};

}  // namespace uncore
