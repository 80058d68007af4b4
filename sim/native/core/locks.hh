// Rules C6 and C7: atomics lock their line, and an LR reserves it.
//
//   try_begin()           called before an atomic
//   take_restart_cost()   returns the cost of having met a lock
//   lock(), reserve(), end_attempt()   called after an atomic
//   unlock()              called when the program gives up an LR
//   lose_reservations()   called when the core loses a line, or a hart writes it
//
// Invariant: at most one hart of a core is executing an atomic on a line that the core holds alone.
#pragma once

#include <utility>

#include "core/lines.hh"
#include "core/thread.hh"

namespace uncore {

class Core;

class Locks {
 public:
  explicit Locks(Core& core) : core_(core) {}

  // C6.3: returns true if an atomic may begin on a line that the core holds alone. If not, the hart
  // waits for the line's holder (C9), or tries again at `reservation.next_try`, which this sets.
  bool try_begin(Thread& thread, const Line& line, Time now) const;
  Time take_restart_cost(Thread& thread) const;  // C6.5: returns the additional time of the atomic
  bool anybody_waits() const;  // returns true if a hart waits for the end of a lock

  // Returns true if neither a hart of the core nor a probe waits for the end of this hart's lock,
  // and no hart waits for any other lock.
  bool concern_nobody(const Thread& thread) const;

  void lock(const Thread& thread, Line& line, Time until) const;
  void reserve(Thread& thread, Line& line, Time now, Time cost) const;
  // Performs an LR of a line that is plain_to_reserve() on the fast path. Returns false if the LR
  // must take the slow path.
  bool try_reserve_at_once(Thread& thread, Line& line, Time now) const;

  // Ends the lock of the hart's LR: at its SC, the next atomic, a trap, or a branch that skips the
  // SC.
  void unlock(Thread& thread, Time now) {
    if (thread.reservation.locked != kNoLine) [[unlikely]]
      end_lock(thread, now);
  }
  // Does the work of unlock() on the fast path. Returns false without any effect if a probe or
  // another hart waits for the end of the lock.
  bool try_unlock_unnoticed(Thread& thread, Time now) const;
  // C7: ends the reservation and the lock after an SC has succeeded or failed.
  void end_attempt(Thread& thread, Time now) {
    thread.reservation.line = kNoLine;
    unlock(thread, now);
  }

  // C7: end the reservations of a line. The first function is called when the core loses the line,
  // and ends all of them; the second is called when the hart `by` writes the line, and ends those
  // of the other harts.
  void lose_reservations(uint64_t number, Time now) const;
  void lose_reservations(Line& line, Time now, const Thread& by) const;

 private:
  bool is_open(const Thread& thread, const Line& line, Time now) const;
  bool is_behind(const Thread& thread, uint64_t number, Time now) const;
  void end_lock(Thread& thread, Time now);

  Core& core_;
};

}  // namespace uncore
