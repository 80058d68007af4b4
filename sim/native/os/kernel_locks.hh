// The kernel's own lines (K1) and the spin locks on them (K4.2).
//
// Invariant: these lines are above the user's half, so that no program reaches one.
#pragma once

#include "os/address_space.hh"
#include "os/work.hh"

namespace uncore {

// Addresses, in the same space as the program's. Each hart has a page, with its run queue's lock
// and the line that membarrier polls. The futexes' buckets and the lock of the address space
// follow. `line`: bytes of a line.
namespace kernel_lines {
inline constexpr uint64_t kBuckets = AddressSpace::kEnd + (uint64_t{1} << 32);
inline constexpr uint64_t kSpace = AddressSpace::kEnd + (uint64_t{2} << 32);
inline uint64_t queue(uint32_t hart) { return AddressSpace::kEnd + hart * AddressSpace::kPage; }
inline uint64_t fences(uint32_t hart, unsigned line) { return queue(hart) + line; }
inline uint64_t bucket(std::size_t number, unsigned line) { return kBuckets + number * line; }
}  // namespace kernel_lines

class SpinLocks {
 public:
  static constexpr Time kPoll = 10'000;  // ps between two loads of a line that is waited for

  explicit SpinLocks(bool free) : free(free) {}

  Work lock(Flow& by, uint64_t line) const {
    if (free) co_return 0;
    for (;;) {
      const uint64_t taken = co_await by.amo(Amo::swap, line, 4, 1);
      if (!taken) co_return 0;
      for (uint64_t still = 1; still;) {
        co_await by.spend(kPoll);
        still = co_await by.load(line, 4);
      }
    }
  }
  Work unlock(Flow& by, uint64_t line) const {
    if (!free) co_await by.store(line, 4, 0);
    co_return 0;
  }

  const bool free;  // true: locks cost nothing, and access no line (K4.3)
};

}  // namespace uncore
