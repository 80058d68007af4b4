// Rules H3.2 and H4: stores become visible in order, and atomics and fences wait for all of them.
//
// Posted far atomics are in the same order (C8.5). Invariant: only the head of a buffer leaves it.
#pragma once

#include "core/stores.hh"

namespace uncore {

class TsoStores : public Stores {
 public:
  using Stores::Stores;

  bool must_drain_before(const Thread&, const Access& access) const override {
    return access.drains();
  }
  bool store(Thread& thread, const Access& access, Time now, Outcome& out) override;
  bool may_leave_next(const Thread& thread, uint64_t number) const override {
    return !thread.buffer.empty() && thread.buffer.head().line == number;
  }

 protected:
  void release(Thread& thread, Time now) override;

 private:
  bool release_oldest(Thread& thread, Time now);
  void ask_ahead(const Thread& thread, uint64_t number, Time now);
};

}  // namespace uncore
