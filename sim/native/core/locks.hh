// Rules C6 and C7: atomics lock their line, and an LR reserves it.
//
//   try_begin() before an atomic, take_restart_cost(): the cost of a lock that the atomic has met
//   lock(), reserve(), end_attempt() when one has been performed; unlock() where an LR is given up
//   lose_reservations() where a line is taken, or written
//
// Invariant: of a core's harts at most one is at an atomic on a line that the core has alone.
#pragma once

#include <utility>

#include "core/lines.hh"
#include "core/thread.hh"

namespace uncore {

class Core;

class Locks {
 public:
  explicit Locks(Core& core) : core_(core) {}

  // C6.3: may an atomic begin on a line that the core has alone? If not, the hart waits for the
  // line's holder to be done (C9), or `reservation.tries` says when it asks again.
  bool try_begin(Thread& thread, const Line& line, Time now) const;
  Time take_restart_cost(Thread& thread) const;  // C6.5: time that the atomic takes longer
  bool anybody_waits() const;                    // does a hart wait for the end of a lock?

  // Does nobody wait for the end of a lock of the hart, or of another atomic of the core?
  bool concern_nobody(const Thread& thread) const;

  void lock(const Thread& thread, Line& line, Time until) const;
  void reserve(Thread& thread, Line& line, Time now, Time cost) const;
  // Performs an LR on the fast path, of a line that is plain to it. False: it takes the slow path.
  bool try_reserve_at_once(Thread& thread, Line& line, Time now) const;

  // Ends an LR's lock: at its SC, the next atomic, a trap, or a branch that skips the SC.
  void unlock(Thread& thread, Time now) {
    if (thread.reservation.locked != kNoLine) [[unlikely]]
      end_lock(thread, now);
  }
  // The same on the fast path. Returns false, with nothing done, if somebody waits for the end of
  // the lock.
  bool try_unlock_unnoticed(Thread& thread, Time now) const;
  // C7: ends the reservation and the lock, because an SC has been done or has failed.
  void end_attempt(Thread& thread, Time now) {
    thread.reservation.line = kNoLine;
    unlock(thread, now);
  }

  // C7: drop the reservations of a line: all of them if the core gives it up, those of the other
  // harts if the hart `by` writes it.
  void lose_reservations(uint64_t number, Time now) const;
  void lose_reservations(Line& line, Time now, const Thread& by) const;

 private:
  bool is_open(const Thread& thread, const Line& line, Time now) const;
  bool is_behind(const Thread& thread, uint64_t number, Time now) const;
  void end_lock(Thread& thread, Time now);

  Core& core_;
};

}  // namespace uncore
