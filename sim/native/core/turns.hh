// A core in time: which of its harts executes, and how far.
//
// Harts take turns by their clocks, and share the issue width (rule H6). They run ahead of the
// engine only as far as no message can reach the core (rule S2).
//
// Interface: begin() at the event that schedule_next() asks for, then next() and execute() by
// turns; the core's rules tell what may concern a hart: disturb(), shorten(), may_run(),
// share_issue(). Invariant: no hart passes a time at which something may reach it.
#pragma once

#include "core/surroundings.hh"
#include "core/thread.hh"
#include "fabric/lookahead.hh"

namespace uncore {

class Turns {
 public:
  Turns(Core& core, Lookahead ahead) : core_(core), ahead_(std::move(ahead)) {}

  void schedule_next();
  void begin(Time now) { horizon_ = std::max(now, horizon(now)); }
  void begin_until(Time horizon) { horizon_ = horizon; }
  // When a hart executes next; kNever: none does.
  Time next_time() const;
  // How far the core may run at `now`, but for what other cores do until then.
  Time horizon_alone(Time now) const;
  // How long it takes at least until what another core does can be here.
  Time distance(const Core& other) const;
  // And for what the others do that execute when this says.
  Time horizon_beside(const Runs& others) const;

  struct Turn {
    Thread* thread;  // null: none goes on
    Time end;
  };
  Turn next() const;
  // Executes up to the horizon or the end of the turn; where a core has two harts, their turns
  // alternate within. Returns which hart stopped, and why.
  struct Stopped {
    Thread* thread;
    Stop why;
  };
  Stopped execute(const Turn& turn);
  // Executes a hart as far as its own horizon, within another's turn.
  Stop run_aside(Thread& thread);
  // While it lives, what the core does counts as done by this hart, though it does not execute.
  class As {
   public:
    As(Turns& turns, Thread& thread) : turns_(turns) { turns.executing_ = &thread; }
    ~As() { turns_.executing_ = nullptr; }
    As(const As&) = delete;

   private:
    Turns& turns_;
  };

  // executes(): is this the hart that executes? actor(): its index, 0 where none does; user(): the
  // same for Lines::touch(), where a message is 0.
  bool executes(const Thread& thread) const { return executing_ == &thread; }
  uint32_t actor() const { return executing_ ? executing_->index : 0; }
  uint32_t user() const { return executing_ ? executing_->index + 1 : 0; }

  // What a hart reads, or how long it takes, may have changed: a loop may not be taken as repeated.
  void disturb() { ++disturbances_; }
  // Something may reach this core at `then`: no hart of it may pass that time.
  void shorten(Time then);
  // Something leaves the core at `when`, and may come back.
  void sent(Time when) { shorten(when + ahead_.least - 1); }
  // The hart may execute from its clock on; the turn of the hart that executes now ends there.
  void may_run(const Thread& thread);
  // `alone` at the present share of the issue width (rules H6.1, I2).
  Time shared(Time alone) const;
  // The number of harts that execute may have changed at `at`, through thread `by`.
  void share_issue(Time at, uint32_t by);

 private:
  Stopped alternate(const Turn& turn);
  Time horizon(Time now) const;
  Time horizon_of_harts(Time now) const;
  Time next_to_come() const;
  Time next_message() const;
  Time apart(const Event& event) const;

  Core& core_;
  const Lookahead ahead_;
  Time horizon_ = 0;             // how far the harts may go in this run
  bool held_up_ = false;         // it ended the last run: it pays to know it exactly
  Thread* executing_ = nullptr;  // null: the core does something for a message
  uint64_t disturbances_ = 1;    // calls of disturb()
  int active_ = -1;              // harts that share the issue width; -1: not yet counted
};

}  // namespace uncore
