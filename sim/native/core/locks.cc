// The locks of atomics, and the reservations of LRs (rules C6 and C7).
#include <algorithm>
#include <tuple>

#include "core/core.hh"

namespace uncore {
namespace {

// An LR's lock lasts for the time of so many instructions and a misprediction beyond its own cost
// at most: its SC, and the branch between them, must fit in.
constexpr Time kLockInstructions = 64;

}  // namespace

// May a hart begin an atomic on a line that the core has alone (rule C6)? Not while another hart's
// is under way, nor while somebody still waits for the end of its own, nor while another hart holds
// the contended line (C9).
bool Core::is_open(const Thread& thread, const Line& line, Time now) const {
  return !line.contended.bars(thread.index) && line.locked_until <= now &&
         !(line.stalled > 0 && line.held_until < now) && !is_behind(thread, line.number, now);
}

// If not, it waits for the holder to be done, or tries again.
bool Core::may_begin(Thread& thread, const Line& line, Time now) {
  if (is_open(thread, line, now)) return true;
  if (line.contended.bars(thread.index)) return false;
  thread.restarts |= line.locked_until > now;
  thread.tries =
      line.locked_until > now ? line.locked_until : now + 2;  // they have asked again by then
  return false;
}

// Does a hart of the core wait longer for a lock of the line?
bool Core::is_behind(const Thread& thread, uint64_t number, Time now) const {
  const Time since = thread.pending.kind == Access::Kind::none ? now : thread.since;
  return std::ranges::any_of(threads, [&](const auto& t) {
    return t->tries && t->pending.line() == number &&
           std::tie(t->since, t->index) < std::tie(since, thread.index);
  });
}

void Core::lock(Thread& thread, Line& line, Time until) {
  line.locked_until = until;
  for (const auto& t : threads)
    if (t->locked == line.number && t.get() != &thread) t->locked = Thread::kNoLine;
}

// An LR's, for its SC.
void Core::reserve(Thread& thread, Line& line, Time now, Time cost) {
  thread.reservation = line.number;
  line.reserved = true;
  if (!around.protocol.may_store(line.copy.state)) return;
  lock(thread, line, now + cost + kLockInstructions * spec.instruction + spec.mispredict);
  thread.locked = line.number;
}

// An LR at once, of a line in the L1. False: it has more to do.
bool Core::reserves(Thread& thread, Line& line, Time now) {
  if (observed || !spec.lr_exclusive || thread.locked != Thread::kNoLine || thread.restarts)
    return false;
  if (line.watchers) return false;  // a sleeper that wakes may have the next turn
  if (!around.protocol.may_store(line.copy.state) || !is_open(thread, line, now)) return false;
  take(line, now);
  thread.looked = Thread::kNoLine;
  reserve(thread, line, now, spec.atomic);
  if (thread.heeds.recording) thread.watch(line.number), thread.locks = true;
  return true;
}

void Core::end_attempt(Thread& thread, Time now) {
  thread.reservation = Thread::kNoLine;
  unlock(thread, now);
}

// The end of an LR's lock, if nobody waits for it.
bool Core::unlocks_alone(Thread& thread, Time now) {
  Line* line = lines.find(thread.locked);
  if (line && line->locked_until > now) {
    const auto waits = [](const auto& t) { return t->tries > 0; };
    if (line->stalled > 0 || std::ranges::any_of(threads, waits)) return false;
    line->locked_until = now;
  }
  thread.locked = Thread::kNoLine;
  return true;
}

// Probes and harts that the LR kept off may ask again.
void Core::end_lock(Thread& thread, Time now) {
  const uint64_t number = thread.locked;
  thread.locked = Thread::kNoLine;
  Line* line = lines.find(number);
  if (!line || line->locked_until <= now) return;
  line->locked_until = now;
  for (const auto& t : threads) {
    if (t->tries <= now + 1 || t->pending.line() != number) continue;
    t->tries = t->hart.clock = now + 1;
    turns.may_run(*t);
  }
  for (PacketId id : stalled_) {
    const Packet& packet = around.network.packets[id];
    if (packet.message.line != number || packet.retry == kNever) continue;
    const Time until = std::max(now + 1, line->held_until);
    defer(id, line, until);
    turns.shorten(until - 1);
  }
}

}  // namespace uncore
