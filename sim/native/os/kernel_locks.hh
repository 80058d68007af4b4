// The kernel's own lines (K1) and the queued spin locks on them (K4.2).
//
// Invariant: these lines are above the user's half, so that no program reaches one.
#pragma once

#include "os/address_space.hh"
#include "os/work.hh"

namespace uncore {

// Addresses, in the same space as the program's. Each hart has a page, with its run queue's lock,
// the line that membarrier polls, and the line on which the hart waits for a lock. The futexes'
// buckets and the lock of the address space follow. `line`: bytes of a line.
namespace kernel_lines {
inline constexpr uint64_t kBuckets = AddressSpace::kEnd + (uint64_t{1} << 32);
inline constexpr uint64_t kSpace = AddressSpace::kEnd + (uint64_t{2} << 32);
inline uint64_t queue(uint32_t hart) { return AddressSpace::kEnd + hart * AddressSpace::kPage; }
inline uint64_t fences(uint32_t hart, unsigned line) { return queue(hart) + line; }
inline uint64_t lock_node(uint32_t hart, unsigned line) { return queue(hart) + 2 * line; }
inline uint64_t bucket(std::size_t number, unsigned line) { return kBuckets + number * line; }
}  // namespace kernel_lines

// Linux's queued spin locks (kernel/locking/qspinlock.c). A lock's word has a byte that says that
// it is held, a byte for its first waiter, who looks at the word, and the last of the others, who
// wait in a queue (Mellor-Crummey and Scott 1991), each looking at a line of its own hart.
//
// Invariant: a hart waits for one lock at a time, because its kernel is not interrupted.
class SpinLocks {
 public:
  static constexpr Time kPoll = 10'000;  // ps between two loads of a line that is waited for

  // `line`: bytes of a line. `cost_nothing`: locks cost nothing, and no line of the kernel is
  // accessed (K4.3).
  SpinLocks(bool cost_nothing, unsigned line) : cost_nothing(cost_nothing), line_(line) {}

  Work lock(Flow& by, uint64_t word) const;
  Work unlock(Flow& by, uint64_t word) const;

  const bool cost_nothing;

 private:
  Work wait_in_queue(Flow& by, uint64_t word) const;
  Work wait_while(Flow& by, uint64_t address, uint64_t bits) const;
  Work wait_for(Flow& by, uint64_t address) const;
  // The line of a hart, by its number plus one.
  uint64_t node_of(uint64_t own) const {
    return kernel_lines::lock_node(static_cast<uint32_t>(own - 1), line_);
  }

  const unsigned line_;
};

}  // namespace uncore
