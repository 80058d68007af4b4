// Rule H8: stores of a weakly ordered core leave the buffer after a randomly drawn time, and in any
// order if they are to different lines.
//
// The order in which a hart sees its accesses is tracked by Weak (core/weak.hh). Invariant: no
// store leaves before an older store to its line, nor before one that is ahead of a fence which
// orders writes before writes (H8.1).
#pragma once

#include "core/stores.hh"

namespace uncore {

class WeakStores : public Stores {
 public:
  using Stores::Stores;

  bool must_drain_before(const Thread& thread, const Access& access) const override;
  bool store(Thread& thread, const Access& access, Time now, Outcome& out) override;
  void fence(Thread& thread, const Access& access, Time now) override;
  bool may_leave_next(const Thread& thread, uint64_t number) const override {
    return thread.buffer.holds(number);
  }
  void apply(Thread& thread, const Access& access, Line& line, Time now, Outcome& out) override;
  bool try_forward(Thread& thread, const Access& access) override;
  void far_amo_done(Thread& thread, const Access& access, Time now) override;

 protected:
  void release(Thread& thread, Time now) override;
  void visible(const Thread& thread, const Store& store, const Line& line, Time now) const override;

 private:
  void note(const Thread& thread, const Access& access, Time view) const;
  void leave_later(const Thread& thread, Time then) const;
};

}  // namespace uncore
