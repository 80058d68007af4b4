// Decides which of a core's harts executes next, and how far.
//
// Harts take turns by their clocks, and share the issue width (rule H6). They run ahead of the
// engine only as far as no message can reach the core (rule S2).
//
// Interface: begin() at the event that schedule_next() asks for, then next() and execute()
// alternately. The core's other rules report what may concern a hart: disturb(), shorten(),
// let_run(), share_issue(). Invariant: no hart passes a time at which something may reach it.
#pragma once

#include "core/context.hh"
#include "core/thread.hh"
#include "fabric/lookahead.hh"

namespace uncore {

class Turns {
 public:
  Turns(Core& core, Lookahead ahead) : core_(core), ahead_(std::move(ahead)) {}

  void schedule_next();
  void begin(Time now) { horizon_ = std::max(now, horizon(now)); }
  void begin_until(Time horizon) { horizon_ = horizon; }
  // Returns when a hart executes next; kNever: none does.
  Time next_time() const;
  // Returns how far the core may run at `now` if no other core executes anything until then.
  Time horizon_alone(Time now) const;
  // Returns the least latency, in ps, from what another core does to this core.
  Time distance(const Core& other) const;
  // Returns how far the core may run before anything that the cores in `others` execute, at the
  // times given there, can reach it.
  Time horizon_beside(const Runs& others) const;

  struct Turn {
    Thread* thread;  // null: no hart can execute
    Time end;
  };
  Turn next() const;
  // Executes up to the horizon or the end of the turn; on a core with two harts, goes on with their
  // following turns. Returns which hart stopped, and why.
  struct Stopped {
    Thread* thread;
    Stop why;
  };
  Stopped execute(const Turn& turn);
  // Executes a hart up to its own horizon, in the middle of another hart's turn.
  Stop run_aside(Thread& thread);
  // While it lives, the core acts on behalf of this hart, which counts as the one that executes.
  class RunningScope {
   public:
    RunningScope(Turns& turns, Thread& thread) : turns_(turns) { turns.executing_ = &thread; }
    ~RunningScope() { turns_.executing_ = nullptr; }
    RunningScope(const RunningScope&) = delete;

   private:
    Turns& turns_;
  };

  // executes(): is this the hart that executes now? actor(): the index of that hart, or 0 if the
  // core acts for a message. user(): its index + 1, or 0 for a message, as Lines::touch() takes it.
  bool executes(const Thread& thread) const { return executing_ == &thread; }
  uint32_t actor() const { return executing_ ? executing_->index : 0; }
  uint32_t user() const { return executing_ ? executing_->index + 1 : 0; }

  // Notes that what a hart reads, or how long that takes, may have changed. Iterations of a loop
  // before and after this do not count as equal (S1).
  void disturb() { ++disturbances_; }
  // Lets no hart of the core pass `then`: something may reach the core at that time.
  void shorten(Time then);
  // Notes that a message leaves the core at `when`: an answer may come back.
  void sent(Time when) { shorten(when + ahead_.least - 1); }
  // Lets the hart execute from its clock on; the turn of the hart that executes now ends there.
  void let_run(const Thread& thread);
  // Returns how long something that takes `time_alone` on an otherwise idle core takes at the
  // present share of the issue width of this hart (rules H6.1, I2).
  Time time_when_shared(const Thread& thread, Time time_alone) const;
  // Counts the harts that need issue slots: they may have changed at `at`, through thread `by`.
  void share_issue(Time at, uint32_t by);

 private:
  Stopped alternate(const Turn& turn);
  Time horizon(Time now) const;
  Time horizon_of_harts(Time now) const;
  Time horizon_in_turn(const Thread& thread, Time end) const;
  Time next_to_come() const;
  Time next_message() const;
  Time latency_from(const Event& event) const;

  Core& core_;
  const Lookahead ahead_;
  Time horizon_ = 0;             // time that no hart passes in this run
  bool held_up_ = false;         // the horizon ended the last run, so it pays to compute it exactly
  Thread* executing_ = nullptr;  // null: the core acts for a message
  uint64_t disturbances_ = 1;    // number of calls of disturb(), plus 1
  int active_ = -1;              // harts that need issue slots; -1: not yet counted
};

}  // namespace uncore
