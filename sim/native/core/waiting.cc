#include "core/waiting.hh"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/core.hh"

namespace uncore {

// Performs what waits for a line whose state has changed: first the stores in the buffers, then the
// pending accesses (H5.1).
void Waiting::retry_waiters(uint64_t number, Time now) {
  const auto can_perform = [&](const Thread& t) {
    const Line* line = core_.lines.find(number);
    return !line || !ContendedLines::must_wait(*line, t);
  };
  for (const auto& t : core_.threads)
    if (core_.stores->may_leave_next(*t, number) && can_perform(*t)) core_.stores->drain(*t, now);
  for (Thread* t = next_waiter(number, nullptr); t; t = next_waiter(number, t))
    if (can_perform(*t)) attempt(*t, now);
  core_.turns.schedule_next();
}

// Returns the next hart that waits for the line, in the order in which the accesses were issued:
// the one after hart `previous`, or the first if that is null. Returns null if there is none.
Thread* Waiting::next_waiter(uint64_t number, const Thread* previous) const {
  Thread* next = nullptr;
  const auto earlier = [](const Thread& a, const Thread& b) {
    return std::tie(a.pending.since, a.index) < std::tie(b.pending.since, b.index);
  };
  for (const auto& t : core_.threads) {
    const bool waits = t->mode == Thread::Mode::waiting && t->pending.kind != Access::Kind::none &&
                       t->pending.line == number;
    if (waits && (!previous || earlier(*previous, *t)) && (!next || earlier(*t, *next)))
      next = t.get();
  }
  return next;
}

void Waiting::attempt(Thread& thread, Time now) {
  if (thread.pending.kind == Access::Kind::none) return;
  thread.reservation.next_try = 0;
  Outcome out;
  const Time resumes = std::max(now, thread.hart.clock);
  if (!core_.lsu.perform(thread, thread.pending, resumes, out))
    return begin_wait(thread, now, core_.turns.actor());
  if (core_.observed)
    core_.observed.resumed(thread, resumes - thread.pending.since, resumes + out.cost);
  thread.pending = Access{};
  thread.hart.clock = resumes + out.cost;
  resume(thread, {out.value, out.high}, now);
}

// Makes the hart wait for memory, or schedules its next try if a lock delays the access (C6.6).
void Waiting::begin_wait(Thread& thread, Time now, uint32_t causing_hart) {
  if (thread.mode == Thread::Mode::stopped) return;
  const Time next_try = thread.reservation.next_try;
  thread.mode = next_try ? Thread::Mode::running : Thread::Mode::waiting;
  if (next_try) thread.hart.clock = next_try;
  core_.turns.share_issue(now, causing_hart);
}

// Lets the hart continue: the value that it waited for has arrived at `now`.
void Waiting::resume(Thread& thread, Pair value, Time now) {
  thread.hart.clock = std::max(thread.hart.clock, now);
  if (thread.in_kernel)
    thread.kernel_read = value.low;
  else
    thread.hart.resume(value.low, value.high);
  thread.mode = Thread::Mode::running;
  core_.turns.share_issue(now, 0);
}

void Waiting::begin_stall(Thread& thread, bool shortly) {
  Hart<Thread>& hart = thread.hart;
  const Time began = hart.clock - hart.cost.instruction;
  thread.reservation.stalls_from = hart.clock;
  if (shortly) {
    hart.clock = std::max(hart.clock, began + hart.cost.pause);
    hart.pausing = true;
    hart.pauses_until = hart.clock;
  } else {
    thread.mode = Thread::Mode::idle;
    if (core_.observed) core_.observed.record(thread, Trace::What::idles, hart.clock);
  }
  const Turns::RunningScope executing(core_.turns, thread);
  core_.turns.share_issue(began, thread.index);
}

void Waiting::end_stall(Thread& thread, Time now) {
  const Time from = std::exchange(thread.reservation.stalls_from, 0);
  if (from == 0) return;
  Hart<Thread>& hart = thread.hart;
  hart.clock = std::max(from, now);
  hart.pausing = true;
  hart.pauses_until = hart.clock;
  thread.mode = Thread::Mode::running;
  core_.turns.let_run(thread);
}

void Waiting::complete(Thread& thread, Pair value, Time now) {
  thread.pending.request = 0;
  if (core_.observed) core_.observed.answered(thread, now);
  if (thread.pending.operates()) core_.stores->far_amo_done(thread, thread.pending, now);
  thread.pending = Access{};
  resume(thread, value, now);
  core_.turns.schedule_next();
}

}  // namespace uncore
