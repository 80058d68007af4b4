#include "core/turns.hh"

#include <algorithm>
#include <utility>

#include "core/thread_port.hh"

namespace uncore {
namespace {

// Longest time, in ps, for which a core runs without returning to the engine, even if nothing can
// reach it. The engine must check the watchdog and user interrupts in between.
constexpr Time kLongestSlice = 100'000'000;

[[gnu::noinline]] Stop run(Thread& thread) {
  return thread.weak ? thread.hart.run_viewed(thread.weak->views) : thread.hart.run();
}

}  // namespace

Time Turns::next_time() const {
  Time next = kNever;
  for (const auto& t : core_.threads)
    if (t->mode == Thread::Mode::running) next = std::min(next, t->hart.clock);
  return next;
}

void Turns::schedule_next() {
  const Time next = next_time();
  held_up_ = next != kNever;
  core_.context.queue.schedule(static_cast<uint32_t>(core_.agent), next);
}

// Returns the earliest time at which a pending event, other than another core's run, can reach this
// core.
[[gnu::always_inline]] inline Time Turns::next_message() const {
  const EventQueue& queue = core_.context.queue;
  if (core_.context.network.in_flight(core_.agent) == 0)
    return queue.next_message(lookahead_.least, [this](const Event& e) { return latency_from(e); });
  const auto own_core = static_cast<uint64_t>(core_.agent);
  return queue.next_message(
      0, [&](const Event& e) { return e.keys().place >> 44 == own_core ? 0 : lookahead_.least; });
}

[[gnu::always_inline]] inline Time Turns::horizon_of_harts(Time now) const {
  const Time slice = now + std::min(core_.context.job.lookahead, kLongestSlice);
  Time due = kNever;
  if (core_.context.interrupts.any_pending_timer())
    for (const auto& t : core_.threads) due = std::min(due, core_.context.interrupts.due(t->id));
  return std::min({due - 1, slice, core_.context.end.time()});
}

// Returns how far the core may run at `now` without missing a message (rule S2) or a timer of its
// harts.
Time Turns::horizon(Time now) const {
  const Time next = next_to_come();
  return std::min(next == 0 ? 0 : next - 1, horizon_of_harts(now));
}

Time Turns::horizon_alone(Time now) const {
  return std::min(next_message() - 1, horizon_of_harts(now));
}

Time Turns::horizon_alongside(const Runs& others) const {
  return others.next_time(static_cast<uint32_t>(core_.agent), lookahead_.subtrees) - 1;
}

Time Turns::distance(const Core& other) const {
  return lookahead_.from(core_.context.machine.core_stops[other.agent]);
}

// Returns the earliest time at which a pending event or another core can reach this core. It is
// computed from exact distances if the horizon ended the last run, else from the least latency.
Time Turns::next_to_come() const {
  const EventQueue& queue = core_.context.queue;
  // With first-touch placement the order of events decides which core touches a page first (A4.4),
  // so no core may run ahead.
  if (core_.context.map.first_touch()) return std::min(queue.next_message(), queue.next_run());
  if (core_.context.network.in_flight(core_.agent) > 0)
    return std::min(next_message(), later(queue.next_run(), lookahead_.least));
  if (!held_up_) return later(std::min(queue.next_message(), queue.next_run()), lookahead_.least);
  return std::min(next_message(),
                  queue.next_run(static_cast<uint32_t>(core_.agent), lookahead_.subtrees));
}

// Returns the least latency from an event to any effect on this core.
Time Turns::latency_from(const Event& event) const {
  switch (event.action()) {
    case Action::hop:
    case Action::arrive:
    case Action::act:
    case Action::retry:
    case Action::reach: {
      const int32_t goal = Packet::from_subject(event.subject()).goal;
      return goal == Packet::kSeveral ? lookahead_.least : lookahead_.from(goal);
    }
    default:
      return lookahead_.least;
  }
}

// H6.4: returns the turn of the hart with the lowest clock; on ties, the lower hart. The turn ends
// at the next hart's clock.
Turns::Turn Turns::next() const {
  Turn turn{nullptr, kNever};
  for (const auto& t : core_.threads) {
    if (t->mode != Thread::Mode::running) continue;
    if (!turn.thread) {
      turn.thread = t.get();
    } else if (t->hart.clock < turn.thread->hart.clock) {  // lower harts win ties
      turn = {t.get(), std::min(turn.end, turn.thread->hart.clock) - 1};
    } else {
      turn.end = std::min(turn.end, t->hart.clock);
    }
  }
  if (turn.thread && turn.thread->hart.clock > horizon_) turn.thread = nullptr;
  return turn;
}

// Returns how far the hart may run in a turn with this end. A pausing hart stops where it may cease
// to pause (H6.5).
[[gnu::always_inline]] inline Time Turns::horizon_in_turn(const Thread& thread, Time end) const {
  const Time horizon = std::min(horizon_, end);
  return thread.hart.pausing ? std::min(horizon, thread.hart.pauses_until - 1) : horizon;
}

Stop Turns::run_aside(Thread& thread) {
  Thread* const other = std::exchange(executing_, &thread);
  const Stop stop = run(thread);
  executing_ = other;
  return stop;
}

Turns::StoppedHart Turns::execute(const Turn& turn) {
  const RunningScope executing(*this, *turn.thread);
  if (core_.threads.size() == 2 && !turn.thread->weak) return alternate(turn);
  turn.thread->hart.horizon = horizon_in_turn(*turn.thread, turn.end);
  turn.thread->hart.undisturbed = turn.thread->disturbances_seen == disturbances_;
  const Stop stop = run(*turn.thread);
  turn.thread->disturbances_seen = disturbances_;
  return {turn.thread, stop};
}

// Executes the turns of two siblings. A turn is only an instruction or two long, so the interpreter
// (run_from) is inlined here instead of being called.
Turns::StoppedHart Turns::alternate(const Turn& turn) {
  Thread *thread = turn.thread, *other = core_.threads[1 - thread->index].get();
  Instruction *at = nullptr, *other_at = nullptr;
  for (Time end = turn.end;;) {
    Hart<Thread>& hart = thread->hart;
    hart.horizon = horizon_in_turn(*thread, end);
    Stop stop;
    do {
      stop = hart.run_from(at, thread->disturbances_seen == disturbances_);
      thread->disturbances_seen = disturbances_;
      if (stop != Stop::horizon) at = nullptr;
    } while (stop == Stop::spin && core_.sleep.begin_recording(*thread));
    if (stop != Stop::horizon || !other->executes_next() || other->hart.clock > horizon_)
      return {thread, stop};
    // A pausing hart may have stopped before the end of its turn.
    if (hart.clock < other->hart.clock + (thread->index < other->index)) return {thread, stop};
    if (other->hart.ceases_to_pause()) return {thread, stop};
    end = hart.clock - (thread->index < other->index);
    std::swap(thread, other);
    std::swap(at, other_at);
    executing_ = thread;
  }
}

void Turns::shorten(Time then) {
  horizon_ = std::min(horizon_, then);
  if (executing_) executing_->hart.horizon = std::min(executing_->hart.horizon, then);
}

void Turns::let_run(const Thread& thread) {
  if (!executing_) return schedule_next();
  if (executing_ == &thread) return;
  const Time turn = thread.hart.clock - (thread.index < executing_->index);
  executing_->hart.horizon = std::min(executing_->hart.horizon, turn);
}

Time Turns::time_when_shared(const Thread& thread, Time time_alone) const {
  const bool beside = thread.executes() && thread.hart.pausing;
  return active_ + beside > 1 ? time_alone * 1000 / core_.spec.smt_share : time_alone;
}

// Divides the issue width among the harts that execute, spinning ones included; a hart that waits
// (H6.2) or pauses (H6.5) gives its share back.
void Turns::share_issue(Time at, uint32_t causing_hart) {
  const bool first = active_ < 0;
  active_ = 0;
  for (const auto& t : core_.threads) active_ += t->executes() && !t->hart.pausing;
  const CoreSpec& spec = core_.spec;
  const Time load_to_use = spec.stall_on_use ? spec.l1_hit : 0;
  for (const auto& t : core_.threads) {
    const Time instruction = time_when_shared(*t, spec.instruction);
    if (instruction == t->hart.cost.instruction && !first) continue;
    disturb();  // an iteration of a loop takes a different time now
    if (t->mode == Thread::Mode::spinning)
      core_.sleep.change_period(*t, at, causing_hart, instruction);
    t->hart.cost = {instruction, spec.mispredict, spec.pause, load_to_use};
  }
}

}  // namespace uncore
