// Rules C6 and C7: atomics lock their line, and an LR reserves it.
//
//   may_begin() before an atomic, starts_over(): what a lock that the atomic has met costs
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
  bool may_begin(Thread& thread, const Line& line, Time now) const;
  Time starts_over(Thread& thread) const;  // C6.5: how much longer the atomic takes
  bool anybody_waits() const;              // does a hart wait for the end of a lock?

  // Does nobody wait for the end of a lock of the hart, or of another atomic of the core?
  bool concern_nobody(const Thread& thread) const;

  void lock(const Thread& thread, Line& line, Time until) const;
  void reserve(Thread& thread, Line& line, Time now, Time cost) const;
  // An LR of a line that is plain to it, on the fast path. False: the LR takes the slow path.
  bool reserve_at_once(Thread& thread, Line& line, Time now) const;

  // The end of an LR's lock: SC, next atomic, trap, a branch that leaves the SC behind.
  void unlock(Thread& thread, Time now) {
    if (thread.reservation.locked != kNoLine) [[unlikely]]
      end_lock(thread, now);
  }
  // The same on the fast path. False: somebody waits for the end of the lock, nothing is done.
  bool unlock_unnoticed(Thread& thread, Time now) const;
  // C7: an SC has been done, or has failed.
  void end_attempt(Thread& thread, Time now) {
    thread.reservation.line = kNoLine;
    unlock(thread, now);
  }

  // C7: the core gives the line up: all reservations of it are lost. Or a hart writes it: those of
  // the other harts are.
  void lose_reservations(uint64_t number) const;
  void lose_reservations(Line& line, const Thread& by) const;

 private:
  bool is_open(const Thread& thread, const Line& line, Time now) const;
  bool is_behind(const Thread& thread, uint64_t number, Time now) const;
  void end_lock(Thread& thread, Time now);

  Core& core_;
};

}  // namespace uncore
