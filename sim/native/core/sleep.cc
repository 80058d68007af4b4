#include "core/sleep.hh"

#include <algorithm>
#include <utility>

#include "core/core.hh"

namespace uncore {
namespace {

// H6.5: does a hart that repeats its turn go on to pause for most of its time, or not to, as now?
bool pauses_alike(const Hart<Thread>& hart) {
  if (!hart.reports_pauses) return true;
  if (hart.spin_pauses == 0) return !hart.pausing;
  const Time between = hart.spin_period - hart.spin_pauses * hart.cost.pause;
  if (hart.pausing) return between < hart.cost.pause;
  return hart.spin_pauses == 1 && between >= hart.cost.pause;
}

}  // namespace

// Returns the last time at which `sleeper` does not yet see what thread `by` does at `at`: on ties
// the lower thread goes first (H6.4).
Time Sleep::before(Time at, uint32_t by, const Thread& sleeper) {
  return sleeper.index < by ? at : at - (at > 0);
}

// Records one more turn to learn which lines the loop reads.
bool Sleep::records(Thread& thread) {
  const bool repeats = !thread.weak || thread.weak->repeats(thread.hart.pc);
  if (thread.heeds.recording && !thread.turn.varies && repeats) return false;
  thread.heeds.recording = true;
  thread.turn.varies = thread.turn.locks = false;
  thread.turn.watched.clear();
  if (core_.around.attribution) core_.around.attribution->turn_begins(thread.id);
  return true;
}

// The hart sleeps if all lines that it reads are in the L1, until one of them changes. Stores in
// its buffer may stay there: they change nothing that it reads. (In a weakly ordered core, a hart
// sleeps only if its buffer is empty.)
void Sleep::sleep(Thread& thread) {
  thread.heeds.recording = false;
  if (thread.weak && !thread.buffer.empty()) return;
  if (!pauses_alike(thread.hart)) return;
  const std::vector<uint64_t>& watched = thread.turn.watched;
  for (uint64_t number : watched) {
    const Line* line = core_.lines.find(number);
    if (!line || !line->in_l1 || !core_.around.protocol.may_load(line->copy.state)) return;
    if (thread.turn.locks && !locks_alone(*line)) return;
  }
  for (uint64_t number : watched) core_.lines.watch(number);
  thread.mode = Thread::Mode::spinning;
  if (Attribution* const attribution = core_.around.attribution)
    attribution->turn_ends(thread.id, thread.hart.instructions - thread.hart.spin_instructions);
  if (core_.observed)
    core_.observed.is(thread, Trace::What::sleeps, thread.hart.clock,
                      watched.empty() ? 0 : watched[0] << kUnitShift);
}

// May a hart lock the line in every turn unnoticed? A sibling that begins to wait for the lock
// wakes the hart, and so does a probe that arrives or whose wait is over.
bool Sleep::locks_alone(const Line& line) const {
  return core_.around.protocol.may_store(line.copy.state) && !core_.locks.anybody_waits();
}

// Brings a sleeper to where executing every turn would have brought it by `horizon`. Turns are
// skipped but for the last, which is executed, so that the lines it reads are marked as used:
// siblings, and stores that leave its buffer, may evict the least recently used line.
void Sleep::advance(Thread& thread, Time horizon) {
  Hart<Thread>& hart = thread.hart;
  if (hart.clock > horizon) return;
  uint64_t turns = (horizon - hart.clock) / hart.spin_period;
  if (turns > 0) --turns;
  hart.skip(turns);
  if (core_.around.attribution) core_.around.attribution->repeated(thread.id, turns);
  hart.horizon = horizon;
  hart.spin_enabled = false;
  // Replaying a turn touches nothing outside this core, so it may run unconfined.
  const bool confined = std::exchange(core_.confined, false);
  const Stop stop = core_.turns.run_aside(thread);
  core_.confined = confined;
  hart.spin_enabled = true;
  if (stop != Stop::horizon) throw ProtocolError{"a sleeping hart did something"};
}

void Sleep::change_period(Thread& sleeper, Time at, uint32_t by, Time instruction) {
  const Time horizon = before(at, by, sleeper);
  advance(sleeper, horizon);
  Hart<Thread>& hart = sleeper.hart;
  const uint64_t shared = hart.spin_instructions - hart.spin_pauses;
  hart.spin_period += shared * instruction - shared * hart.cost.instruction;
  if (!pauses_alike(hart)) wake_until(sleeper, horizon);
}

void Sleep::wake_until(Thread& thread, Time horizon) {
  advance(thread, horizon);
  thread.hart.woken();
  if (core_.around.attribution) core_.around.attribution->path.woken(thread.id, horizon);
  if (core_.observed) core_.observed.is(thread, Trace::What::wakes, horizon);
  thread.mode = Thread::Mode::running;
  for (uint64_t number : thread.turn.watched) core_.lines.unwatch(number);
  core_.turns.may_run(thread);
}

void Sleep::wake_watchers(const Line& line, Time at) {
  for (const auto& t : core_.threads)
    if (t->mode == Thread::Mode::spinning && t->turn.watches(line.number))
      wake_until(*t, before(at, core_.turns.actor(), *t));
}

void Sleep::wake_lockers(const Line& line, Time at) {
  for (const auto& t : core_.threads)
    if (t->mode == Thread::Mode::spinning && t->turn.locks && !core_.turns.executes(*t) &&
        t->turn.watches(line.number))
      wake_until(*t, before(at, core_.turns.actor(), *t));
}

void Sleep::wake_all(Time at) {
  for (const auto& t : core_.threads)
    if (t->mode == Thread::Mode::spinning) wake(*t, at);
}

void Sleep::advance_readers(uint64_t number, Time at) {
  const Lines& lines = core_.lines;
  const auto reads = [&](const auto& t) {
    return t->mode == Thread::Mode::spinning &&
           std::ranges::any_of(t->turn.watched,
                               [&](uint64_t w) { return lines.together(w, number); });
  };
  if (std::ranges::none_of(core_.threads, reads)) return;
  for (const auto& t : core_.threads)
    if (t->mode == Thread::Mode::spinning) advance(*t, before(at, core_.turns.actor(), *t));
}

}  // namespace uncore
