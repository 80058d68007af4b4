// Harts that wait, and what sets them free: a line that changes goes to them in order (rules H5,
// C9).
#include <algorithm>
#include <tuple>

#include "core/core.hh"

namespace uncore {

// The state of a line changed: drain what can drain, perform what can be performed.
void Core::progress(uint64_t number, Time now) {
  const auto open = [&](const Thread& t) {
    const Line* line = lines.find(number);
    return !line || !line->contended.bars(t.index);
  };
  for (const auto& t : threads)
    if (leaves(*t, number) && open(*t)) drain(*t, now);
  for (Thread* t = next_waiting(number, nullptr); t; t = next_waiting(number, t))
    if (open(*t)) attempt(*t, now);
  turns.schedule_next();
}

// Has the buffer a store for the line that may leave?
bool Core::leaves(const Thread& t, uint64_t number) const {
  if (t.weak) return t.buffer.holds(number);
  return !t.buffer.empty() && t.buffer.head().line() == number;
}

// A hart's time with a line that others waited for is over: the rest ask in turn, `first` first.
void Core::pass(uint64_t number, uint32_t first, Time now) {
  for (std::size_t i = 0; i < threads.size(); ++i) {
    Thread& t = *threads[(first + i) % threads.size()];
    if (leaves(t, number))
      drain(t, now);
    else if (t.mode == Thread::Mode::waiting && t.pending.line() == number)
      attempt(t, now);
  }
  turns.schedule_next();
}

// Who waits for the line next, in the order of issue.
Thread* Core::next_waiting(uint64_t number, const Thread* after) const {
  Thread* next = nullptr;
  const auto earlier = [](const Thread& a, const Thread& b) {
    return std::tie(a.since, a.index) < std::tie(b.since, b.index);
  };
  for (const auto& t : threads) {
    const bool waits = t->mode == Thread::Mode::waiting && t->pending.kind != Access::Kind::none &&
                       t->pending.line() == number;
    if (waits && (!after || earlier(*after, *t)) && (!next || earlier(*t, *next))) next = t.get();
  }
  return next;
}

void Core::attempt(Thread& thread, Time now) {
  if (thread.pending.kind == Access::Kind::none) return;
  thread.tries = 0;
  Outcome out;
  const Time then = std::max(now, thread.hart.clock);
  if (!perform(thread, thread.pending, then, out)) return waits(thread, now, turns.actor());
  if (observed) observed.resumed(thread, then - thread.since, then + out.cost);
  thread.pending = Access{};
  thread.hart.clock = then + out.cost;
  resume(thread, {out.value, out.high}, now);
}

// Its access could not be performed: it waits for memory, or executes it again after a lock.
void Core::waits(Thread& thread, Time now, uint32_t by) {
  if (thread.mode == Thread::Mode::stopped) return;
  thread.mode = thread.tries ? Thread::Mode::running : Thread::Mode::waiting;
  if (thread.tries) thread.hart.clock = thread.tries;
  turns.share_issue(now, by);
}

// What a waiting hart waited for has come, at `now`.
void Core::resume(Thread& thread, Pair value, Time now) {
  thread.hart.clock = std::max(thread.hart.clock, now);
  if (thread.in_kernel)
    thread.kernel_read = value.low;
  else
    thread.hart.resume(value.low, value.high);
  thread.mode = Thread::Mode::running;
  turns.share_issue(now, 0);
}

void Core::answered(Thread& thread, Pair value, Time now) {
  thread.asked = 0;
  if (observed) observed.answered(thread, now);
  if (thread.weak && thread.pending.operates()) {
    thread.weak->atomic(thread.pending, now);
    note(thread, thread.pending, now);
  }
  thread.pending = Access{};
  resume(thread, value, now);
  turns.schedule_next();
}

}  // namespace uncore
