#include "core/sleep.hh"

#include <algorithm>
#include <utility>

#include "core/core.hh"

namespace uncore {
namespace {

// H6.5: returns true if repeating the iteration does not change whether the hart counts as pausing.
bool pauses_alike(const Hart<Thread>& hart) {
  if (!hart.reports_pauses) return true;
  if (hart.spin_pauses == 0) return !hart.pausing;
  const Time between = hart.spin_period - hart.spin_pauses * hart.cost.pause;
  if (hart.pausing) return between < hart.cost.pause;
  return hart.spin_pauses == 1 && between >= hart.cost.pause;
}

}  // namespace

// Returns the last time at which `sleeper` acts before what the hart with index `hart` does at
// `time`. At equal times the lower hart goes first (H6.4).
Time Sleep::last_time_before(Time time, uint32_t hart, const Thread& sleeper) {
  return sleeper.index < hart ? time : time - (time > 0);
}

// Records one more iteration to learn which lines the loop reads.
bool Sleep::begin_recording(Thread& thread) {
  const bool repeats = !thread.weak || thread.weak->end_iteration(thread.hart.pc);
  if (thread.slow_path.recording && !thread.iteration.varies && repeats) return false;
  thread.slow_path.recording = true;
  thread.iteration.varies = thread.iteration.locks = thread.hart.hides_latency = false;
  thread.iteration.watched.clear();
  if (core_.context.attribution) core_.context.attribution->begin_iteration(thread.id);
  return true;
}

// The hart sleeps if all lines that it reads are in the L1, until one of them changes. Stores in
// its buffer may stay there: they change nothing that it reads. (In a weakly ordered core, a hart
// sleeps only if its buffer is empty.)
void Sleep::sleep(Thread& thread) {
  thread.slow_path.recording = false;
  if (thread.weak && !thread.buffer.empty()) return;
  if (!pauses_alike(thread.hart)) return;
  const std::vector<uint64_t>& watched = thread.iteration.watched;
  for (uint64_t number : watched) {
    const Line* line = core_.lines.find(number);
    if (!line || !line->in_l1 || !core_.context.protocol.may_load(line->copy.state)) return;
    if (thread.iteration.locks && !locks_alone(*line)) return;
  }
  for (uint64_t number : watched) core_.lines.watch(number);
  thread.mode = Thread::Mode::spinning;
  if (Attribution* const attribution = core_.context.attribution)
    attribution->end_iteration(thread.id, thread.hart.instructions - thread.hart.spin_instructions);
  if (core_.observed)
    core_.observed.record(thread, Trace::What::sleeps, thread.hart.clock,
                          watched.empty() ? 0 : watched[0] << kUnitShift);
}

// Returns true if nothing notices that a sleeping hart locks the line in every iteration. A sibling
// that begins to wait for the lock wakes the hart, and so does a probe that arrives or whose wait
// is over.
bool Sleep::locks_alone(const Line& line) const {
  return core_.context.protocol.may_store(line.copy.state) && !core_.locks.anybody_waits();
}

// Advances a sleeper to the state that it would have at `horizon` after executing every iteration.
// All iterations but the last are skipped. The last is executed, so that the lines it reads are
// marked as used: siblings, and stores that leave its buffer, may evict the least recently used
// line.
void Sleep::advance(Thread& thread, Time horizon) {
  Hart<Thread>& hart = thread.hart;
  if (hart.clock > horizon) return;
  uint64_t iterations = (horizon - hart.clock) / hart.spin_period;
  if (iterations > 0) --iterations;
  hart.skip(iterations);
  if (core_.context.attribution) core_.context.attribution->repeated(thread.id, iterations);
  hart.horizon = horizon;
  hart.spin_enabled = false;
  // Replaying an iteration touches nothing outside this core, so it may run unconfined.
  const bool confined = std::exchange(core_.confined, false);
  const Stop stop = core_.turns.run_aside(thread);
  core_.confined = confined;
  hart.spin_enabled = true;
  if (stop != Stop::horizon) throw ProtocolError{"a sleeping hart did something"};
}

void Sleep::change_period(Thread& sleeper, Time at, uint32_t causing_hart, Time instruction) {
  const Time horizon = last_time_before(at, causing_hart, sleeper);
  advance(sleeper, horizon);
  Hart<Thread>& hart = sleeper.hart;
  if (hart.hides_latency) return wake_until(sleeper, horizon);
  const uint64_t shared_instructions = hart.spin_instructions - hart.spin_pauses;
  hart.spin_period +=
      shared_instructions * instruction - shared_instructions * hart.cost.instruction;
  if (!pauses_alike(hart)) wake_until(sleeper, horizon);
}

void Sleep::wake_until(Thread& thread, Time horizon) {
  advance(thread, horizon);
  thread.hart.woken();
  if (core_.context.attribution) core_.context.attribution->path.woken(thread.id, horizon);
  if (core_.observed) core_.observed.record(thread, Trace::What::wakes, horizon);
  thread.mode = Thread::Mode::running;
  for (uint64_t number : thread.iteration.watched) core_.lines.unwatch(number);
  core_.turns.let_run(thread);
}

void Sleep::wake_watchers(const Line& line, Time at) {
  for (const auto& t : core_.threads)
    if (t->mode == Thread::Mode::spinning && t->iteration.watches(line.number))
      wake_until(*t, last_time_before(at, core_.turns.actor(), *t));
}

void Sleep::wake_lockers(const Line& line, Time at) {
  for (const auto& t : core_.threads)
    if (t->mode == Thread::Mode::spinning && t->iteration.locks && !core_.turns.executes(*t) &&
        t->iteration.watches(line.number))
      wake_until(*t, last_time_before(at, core_.turns.actor(), *t));
}

void Sleep::wake_all(Time at) {
  for (const auto& t : core_.threads)
    if (t->mode == Thread::Mode::spinning) wake(*t, at);
}

void Sleep::advance_sleepers_if_read(uint64_t number, Time at) {
  const Lines& lines = core_.lines;
  const auto reads = [&](const auto& t) {
    return t->mode == Thread::Mode::spinning &&
           std::ranges::any_of(t->iteration.watched,
                               [&](uint64_t w) { return lines.share_set(w, number); });
  };
  if (std::ranges::none_of(core_.threads, reads)) return;
  for (const auto& t : core_.threads)
    if (t->mode == Thread::Mode::spinning)
      advance(*t, last_time_before(at, core_.turns.actor(), *t));
}

}  // namespace uncore
