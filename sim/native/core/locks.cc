#include "core/locks.hh"

#include <algorithm>
#include <tuple>

#include "core/core.hh"
#include "spec/core_spec.hh"

namespace uncore {
namespace {

// The lock of an LR lasts at most this many instructions and one misprediction after the LR has
// executed. Its SC and the branch between them must fit in (C6.2).
constexpr Time kLockInstructions = 64;

}  // namespace

// Returns true if the hart may begin an atomic. It must wait while another hart is the holder of
// the contended line (C9.5), while another atomic is being performed on the line, and if a probe
// (C6.7) or a hart that has waited longer (C6.4) must go first.
bool Locks::is_open(const Thread& thread, const Line& line, Time now) const {
  return !ContendedLines::must_wait(line, thread) && line.locked_until <= now &&
         !(line.stalled > 0 && line.held_until < now) && !is_behind(thread, line.number, now);
}

bool Locks::try_begin(Thread& thread, const Line& line, Time now) const {
  if (is_open(thread, line, now)) return true;
  if (ContendedLines::must_wait(line, thread)) return false;
  const bool locked = line.locked_until > now;
  thread.reservation.restarts |= locked;
  // At `now` + 2 the probe or hart that must go first has tried, because it tries at `now` + 1.
  thread.reservation.next_try = locked ? line.locked_until : now + 2;
  return false;
}

Time Locks::take_restart_cost(Thread& thread) const {
  return std::exchange(thread.reservation.restarts, false) ? core_.spec.restart : 0;
}

bool Locks::anybody_waits() const {
  return std::ranges::any_of(core_.threads,
                             [](const auto& t) { return t->reservation.next_try > 0; });
}

bool Locks::concern_nobody(const Thread& thread) const {
  const uint64_t locked = thread.reservation.locked;
  const Line* const line = locked == kNoLine ? nullptr : core_.lines.find(locked);
  return !anybody_waits() && !(line && line->stalled > 0);
}

// C6.4: returns true if another hart of the core waits for the line's lock and has waited longer.
bool Locks::is_behind(const Thread& thread, uint64_t number, Time now) const {
  const Time since = thread.pending.kind == Access::Kind::none ? now : thread.pending.since;
  return std::ranges::any_of(core_.threads, [&](const auto& t) {
    return t->reservation.next_try && t->pending.line == number &&
           std::tie(t->pending.since, t->index) < std::tie(since, thread.index);
  });
}

// Locks the line until `until`. Another hart whose LR had locked it loses that lock.
void Locks::lock(const Thread& thread, Line& line, Time until) const {
  line.locked_until = until;
  for (const auto& t : core_.threads)
    if (t->reservation.locked == line.number && t.get() != &thread) t->reservation.locked = kNoLine;
}

// C7: the LR reserves the line. If the core holds the line alone, the LR also locks it until its SC
// (C6.2).
void Locks::reserve(Thread& thread, Line& line, Time now, Time cost) const {
  thread.reservation.line = line.number;
  line.mark(StoreObstacle::reserved, true);
  if (!core_.context.protocol.may_store(line.copy.state)) return;
  const CoreSpec& spec = core_.spec;
  lock(thread, line, now + cost + kLockInstructions * spec.instruction + spec.mispredict);
  thread.reservation.locked = line.number;
}

bool Locks::try_reserve_at_once(Thread& thread, Line& line, Time now) const {
  if (thread.reservation.locked != kNoLine || thread.reservation.restarts) return false;
  if (!is_open(thread, line, now)) return false;
  LoadsAhead::note_atomic(thread);
  reserve(thread, line, now, core_.spec.atomic);
  if (thread.slow_path.recording)
    thread.iteration.watch(line.number), thread.iteration.locks = true;
  return true;
}

bool Locks::try_unlock_unnoticed(Thread& thread, Time now) const {
  Line* line = core_.lines.find(thread.reservation.locked);
  if (line && line->locked_until > now) {
    if (line->stalled > 0 || anybody_waits()) return false;
    line->locked_until = now;
  }
  thread.reservation.locked = kNoLine;
  return true;
}

// Ends the lock of the hart's LR. Harts and probes that waited for its end try again (C6.6).
void Locks::end_lock(Thread& thread, Time now) {
  const uint64_t number = std::exchange(thread.reservation.locked, kNoLine);
  Line* line = core_.lines.find(number);
  if (!line || line->locked_until <= now) return;
  line->locked_until = now;
  for (const auto& t : core_.threads) {
    if (t->reservation.next_try <= now + 1 || t->pending.line != number) continue;
    t->reservation.next_try = t->hart.clock = now + 1;
    core_.turns.let_run(*t);
  }
  core_.probes.lock_ended(*line, now);
}

void Locks::lose_reservations(uint64_t number, Time now) const {
  for (const auto& t : core_.threads)
    if (t->reservation.line == number) {
      t->reservation.line = kNoLine;
      core_.waiting.end_stall(*t, now);
    }
}

void Locks::lose_reservations(Line& line, Time now, const Thread& by) const {
  line.mark(StoreObstacle::reserved, by.reservation.line == line.number);
  for (const auto& t : core_.threads)
    if (t->reservation.line == line.number && t.get() != &by) {
      t->reservation.line = kNoLine;
      core_.waiting.end_stall(*t, now);
    }
}

}  // namespace uncore
