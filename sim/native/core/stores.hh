// Rule H3: a hart does not wait for its stores. They are in its store buffer until they become
// visible.
//
// Two implementations decide the order in which they become visible: TsoStores (H3.2) and
// WeakStores (H8).
//
//   must_drain_before()   called before an access
//   store(), fence()      perform a store or a fence
//   apply()               performs any other access, when the core has its line
//   may_leave_next(), drain()   called when a line has arrived
//
// Invariant: a store is performed on its line when it leaves the buffer, and not before.
#pragma once

#include <cstddef>

#include "core/lines.hh"
#include "core/thread.hh"

namespace uncore {

class Core;

class Stores {
 public:
  // `capacity`: number of entries of a hart's buffer.
  Stores(Core& core, std::size_t capacity) : core_(core), capacity_(capacity) {}
  virtual ~Stores() = default;

  // Returns true if stores must leave the buffer before the access is performed (H4, H8.3).
  virtual bool must_drain_before(const Thread& thread, const Access& access) const = 0;
  // Performs the store at once, or puts it into the buffer. Returns false if the buffer is full.
  virtual bool store(Thread& thread, const Access& access, Time now, Outcome& out) = 0;
  virtual void fence(Thread&, const Access&, Time) {}
  // apply() performs any other access on its line. try_forward() is called when the buffer can
  // provide a load's value; it returns false if the load has to wait for the stores instead (H8.9).
  // far_amo_done() is called when the resolver has performed an AMO.
  virtual void apply(Thread& thread, const Access& access, Line& line, Time now, Outcome& out);
  virtual bool try_forward(Thread&, const Access&) { return true; }
  virtual void far_amo_done(Thread&, const Access&, Time) {}
  // Returns true if a store to the line may be the next to leave the buffer.
  virtual bool may_leave_next(const Thread& thread, uint64_t number) const = 0;

  bool enter(Thread& thread, const Store& store, Time now);
  void drain(Thread& thread, Time now);

 protected:
  // Makes the stores visible that may leave and have their lines; requests the lines of the stores
  // after them.
  virtual void release(Thread& thread, Time now) = 0;
  // Called when a store becomes visible, before its bytes are in the line.
  virtual void visible(const Thread&, const Store&, const Line&, Time) const {}
  bool make_visible(Thread& thread, std::size_t older, Time now);

  Core& core_;
  const std::size_t capacity_;
};

}  // namespace uncore
