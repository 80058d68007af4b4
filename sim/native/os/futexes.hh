// Futexes (K9): a hash table of buckets. A bucket is one line, with its lock and the head of its
// queue of waiting tasks.
//
// Interface: wait() until another task wakes this one; wake() tasks that wait for a word; requeue()
// them to another word; wake_op(). They return the values that futex(2) returns.
//
// Invariant: a task is in the bucket of the word in its `waits_on`, and in no bucket if that is 0.
#pragma once

#include <deque>
#include <vector>

#include "os/signals.hh"
#include "os/user_memory.hh"

namespace uncore {

class Futexes {
 public:
  static constexpr uint32_t kAny = ~0u;  // FUTEX_BITSET_MATCH_ANY

  Futexes(const LinuxContext& context, const SpinLocks& locks, Scheduler& scheduler,
          UserMemory& memory, Signals& signals);

  Work wait(Task& t, uint64_t word, uint32_t expected, Time until, uint32_t mask);
  Work wake(Task& t, uint64_t word, uint64_t max_tasks, uint32_t mask = kAny);
  // Arguments of requeue(), which wakes tasks that wait for `from` and moves further ones to `to`.
  // It fails if `expected` is given and the word at `from` has another value.
  struct Requeue {
    uint64_t from, to;
    uint64_t wake, move;  // greatest number of tasks to wake, and to move
    std::optional<uint32_t> expected;
  };
  Work requeue(Task& t, const Requeue& arguments);
  struct WakeOp {
    uint64_t first, second;
    uint64_t wake_first, wake_second;
    uint32_t code;  // FUTEX_OP
  };
  Work wake_op(Task& t, const WakeOp& arguments);
  // Returns whether a FUTEX_OP code has an operation and a comparison that exist in Linux.
  static constexpr bool knows(uint32_t code) {
    return (code >> 28 & 7) <= 4 && (code >> 24 & 15) <= 5;
  }

 private:
  using Bucket = std::deque<Task*>;

  std::size_t bucket_of(uint64_t word) const;
  static void join(Bucket& bucket, Task& task);
  Work lock_both(Task& t, std::size_t a, std::size_t b);
  Work unlock_both(Task& t, std::size_t a, std::size_t b);
  Work wake_all(Task& by, const std::vector<Task*>& tasks);
  Work leave(Task& t);
  uint64_t bucket(std::size_t number) const { return kernel_lines::bucket(number, line_); }

  const SpinLocks& locks_;
  Scheduler& scheduler_;
  UserMemory& memory_;
  Signals& signals_;
  const unsigned line_;          // bytes of a line
  std::vector<Bucket> buckets_;  // their number is a power of two
};

}  // namespace uncore
