// The kernel's own lines (K1) and the queued spin locks on them (K4.2).
//
// Invariant: these lines are above the user's half, so that no program reaches one.
#pragma once

#include "os/address_space.hh"
#include "os/work.hh"

namespace uncore {

// The addresses of the kernel's lines, in the same address space as the program's. Each hart has a
// page with three of them: its run queue's lock, the line that membarrier polls, and its node in
// the queue of a lock. The buckets of the futexes and the lock of the address space follow. `line`
// is the line size in bytes.
namespace kernel_lines {
inline constexpr uint64_t kBuckets = AddressSpace::kEnd + (uint64_t{1} << 32);
inline constexpr uint64_t kSpace = AddressSpace::kEnd + (uint64_t{2} << 32);
inline uint64_t queue(uint32_t hart) { return AddressSpace::kEnd + hart * AddressSpace::kPage; }
inline uint64_t fences(uint32_t hart, unsigned line) { return queue(hart) + line; }
inline uint64_t lock_node(uint32_t hart, unsigned line) { return queue(hart) + 2 * line; }
inline uint64_t bucket(std::size_t number, unsigned line) { return kBuckets + number * line; }
}  // namespace kernel_lines

// Linux's queued spin locks (kernel/locking/qspinlock.c). A lock's word has a byte that says that
// it is held, a byte for a pending hart, which polls the word, and the tail of a queue of further
// harts (Mellor-Crummey and Scott 1991), each of which polls its own node.
//
// Invariant: a hart waits for one lock at a time, because the kernel runs with interrupts off. So
// one queue node for each hart is enough, where Linux has four.
class SpinLocks {
 public:
  static constexpr Time kPollInterval = 10'000;  // ps between two loads of a polled line

  // `line` is the line size in bytes. With `cost_nothing`, locks take no time, and no line of the
  // kernel is accessed (K4.3).
  SpinLocks(bool cost_nothing, unsigned line) : cost_nothing(cost_nothing), line_(line) {}

  Work lock(Flow& by, uint64_t word) const;
  Work unlock(Flow& by, uint64_t word) const;

  const bool cost_nothing;

 private:
  Work wait_in_queue(Flow& by, uint64_t word) const;
  Work wait_while(Flow& by, uint64_t address, uint64_t bits) const;
  Work wait_for(Flow& by, uint64_t address) const;
  // Returns the address of a hart's queue node. `own_number` is the hart's number plus one.
  uint64_t node_of(uint64_t own_number) const {
    return kernel_lines::lock_node(static_cast<uint32_t>(own_number - 1), line_);
  }

  const unsigned line_;
};

}  // namespace uncore
