// Futexes (rule K9): a hash table of buckets, each a line with its lock and the head of its queue.
#include <algorithm>
#include <utility>
#include <vector>

#include "os/calls.hh"
#include "os/errors.hh"

namespace uncore {

namespace {

enum Operation : uint64_t {
  kWait = 0,
  kWake = 1,
  kRequeue = 3,
  kCompareRequeue = 4,
  kWakeOperate = 5,
  kWaitMask = 9,
  kWakeMask = 10,
};
constexpr uint64_t kPrivate = 128, kClockOfDay = 256;
constexpr uint32_t kAny = ~0u;

uint64_t line_of(std::size_t bucket) { return Kernel::kBuckets + bucket * kLineBytes; }

// Those of a bucket that wait for the word, at most so many: they wait for nothing any more.
std::vector<Task*> take(std::deque<Task*>& bucket, uint64_t word, uint64_t most, uint32_t mask) {
  std::vector<Task*> taken;
  std::erase_if(bucket, [&](Task* t) {
    if (t->waits_on != word || !(t->mask & mask) || taken.size() >= most) return false;
    t->waits_on = 0;
    taken.push_back(t);
    return true;
  });
  return taken;
}

Work wake_all(Kernel& k, Task& by, const std::vector<Task*>& tasks) {
  for (Task* const t : tasks) co_await k.wake(by, by.hart, *t);
  co_return static_cast<int64_t>(tasks.size());
}

Work wait(Kernel& k, Task& t, uint64_t word, uint32_t expected, Time until, uint32_t mask) {
  const std::size_t bucket = k.bucket_of(word);
  if (mask == 0) co_return kInvalid;
  const int64_t failed = co_await k.reach(t, word, 4);
  if (failed < 0) co_return failed;
  co_await k.lock(t, line_of(bucket));
  co_await t.fence();
  const uint64_t found = co_await t.load(word, 4);
  if (static_cast<uint32_t>(found) == expected) {
    t.waits_on = word, t.mask = mask;
    k.buckets[bucket].push_back(&t);
  }
  co_await k.unlock(t, line_of(bucket));
  if (static_cast<uint32_t>(found) != expected) co_return kAgain;
  bool over = false;
  while (t.waits_on && !over && !(t.pending & ~t.blocked)) over = co_await k.sleep(t, until);
  if (!t.waits_on) co_return 0;
  const std::size_t last = k.bucket_of(t.waits_on);  // it may have been requeued
  co_await k.lock(t, line_of(last));
  const bool waited = std::exchange(t.waits_on, 0) != 0;
  if (waited) std::erase(k.buckets[last], &t);
  co_await k.unlock(t, line_of(last));
  if (!waited) co_return 0;
  co_return over ? kTimedOut : kInterrupted;
}

Work wake(Kernel& k, Task& t, uint64_t word, uint64_t most, uint32_t mask) {
  const std::size_t bucket = k.bucket_of(word);
  if (mask == 0) co_return kInvalid;
  co_await t.fence();
  // Nobody waits: one look at the bucket's line tells (futex_hb_waiters_pending).
  if (!k.process.free) co_await t.load(line_of(bucket), 4);
  if (k.buckets[bucket].empty()) co_return 0;
  co_await k.lock(t, line_of(bucket));
  const std::vector<Task*> taken = take(k.buckets[bucket], word, most, mask);
  co_await k.unlock(t, line_of(bucket));
  co_return co_await wake_all(k, t, taken);
}

// Two buckets are locked in their order.
Work lock_both(Kernel& k, Task& t, std::size_t a, std::size_t b) {
  co_await k.lock(t, line_of(std::min(a, b)));
  if (a != b) co_await k.lock(t, line_of(std::max(a, b)));
  co_return 0;
}
Work unlock_both(Kernel& k, Task& t, std::size_t a, std::size_t b) {
  co_await k.unlock(t, line_of(a));
  if (a != b) co_await k.unlock(t, line_of(b));
  co_return 0;
}

Work requeue(Kernel& k, Task& t, bool compares) {
  const uint64_t from = t.a[0], to = t.a[4];
  const std::size_t a = k.bucket_of(from), b = k.bucket_of(to);
  const int64_t failed = co_await k.reach(t, from, 4);
  if (failed < 0) co_return failed;
  co_await lock_both(k, t, a, b);
  co_await t.fence();
  bool differs = false;
  if (compares) {
    const uint64_t found = co_await t.load(from, 4);
    differs = static_cast<uint32_t>(found) != static_cast<uint32_t>(t.a[5]);
  }
  std::vector<Task*> taken, moved;
  if (!differs) {
    taken = take(k.buckets[a], from, t.a[2], kAny);
    moved = take(k.buckets[a], from, t.a[3], kAny);
    for (Task* const one : moved) {
      one->waits_on = to;
      k.buckets[b].push_back(one);
    }
  }
  co_await unlock_both(k, t, a, b);
  if (differs) co_return kAgain;
  const int64_t woken = co_await wake_all(k, t, taken);
  co_return woken + static_cast<int64_t>(moved.size());
}

// The word's new value, and whether its old one compares, as FUTEX_OP encodes both.
uint32_t operated(uint32_t code, uint32_t old) {
  uint32_t by = code << 8 >> 20;
  if (code >> 31) by = 1u << (by & 31);
  switch (code >> 28 & 7) {
    case 0:
      return by;
    case 1:
      return old + by;
    case 2:
      return old | by;
    case 3:
      return old & ~by;
    default:
      return old ^ by;
  }
}
bool compares(uint32_t code, uint32_t word) {
  const auto old = static_cast<int32_t>(word), with = static_cast<int32_t>(code << 20) >> 20;
  switch (code >> 24 & 15) {
    case 0:
      return old == with;
    case 1:
      return old != with;
    case 2:
      return old < with;
    case 3:
      return old <= with;
    case 4:
      return old > with;
    default:
      return old >= with;
  }
}

Work wake_and_operate(Kernel& k, Task& t) {
  const uint64_t first = t.a[0], second = t.a[4];
  const auto code = static_cast<uint32_t>(t.a[5]);
  const std::size_t a = k.bucket_of(first), b = k.bucket_of(second);
  const int64_t failed = co_await k.reach(t, second, 4);
  if (failed < 0) co_return failed;
  co_await lock_both(k, t, a, b);
  uint64_t old = co_await t.load(second, 4);
  for (uint64_t seen = ~uint64_t{0}; seen != old;) {
    seen = old;
    old = co_await t.amo(Amo::cas, second, 4, operated(code, static_cast<uint32_t>(seen)), seen);
  }
  std::vector<Task*> taken = take(k.buckets[a], first, t.a[2], kAny);
  if (compares(code, static_cast<uint32_t>(old)))
    for (Task* const one : take(k.buckets[b], second, t.a[3], kAny)) taken.push_back(one);
  co_await unlock_both(k, t, a, b);
  co_return co_await wake_all(k, t, taken);
}

}  // namespace

// For the kernel's own purposes: a thread has ended, or died with a lock.
Work Kernel::wake_futex(Task& t, uint64_t word, uint64_t most) {
  co_return co_await ::uncore::wake(*this, t, word, most, kAny);
}

// Priority inheritance is refused as by a kernel without it.
Work calls::futex(Kernel& k, Task& t) {
  const uint64_t operation = t.a[1] & ~(kPrivate | kClockOfDay);
  const bool waits = operation == kWait || operation == kWaitMask;
  if (t.a[0] % 4 != 0) co_return kInvalid;
  Time until = kNever;
  t.restarts = waits && t.a[3] == 0;
  if (waits && t.a[3]) {
    const uint64_t clock = t.a[1] & kClockOfDay ? 0 : 1;
    const int64_t failed = co_await read_time(k, t, t.a[3], clock, operation == kWait, until);
    if (failed < 0) co_return failed;
  }
  const auto expected = static_cast<uint32_t>(t.a[2]), mask = static_cast<uint32_t>(t.a[5]);
  switch (operation) {
    case kWait:
      co_return co_await wait(k, t, t.a[0], expected, until, kAny);
    case kWaitMask:
      co_return co_await wait(k, t, t.a[0], expected, until, mask);
    case kWake:
      co_return co_await wake(k, t, t.a[0], t.a[2], kAny);
    case kWakeMask:
      co_return co_await wake(k, t, t.a[0], t.a[2], mask);
    case kRequeue:
    case kCompareRequeue:
      co_return co_await requeue(k, t, operation == kCompareRequeue);
    case kWakeOperate:
      co_return co_await wake_and_operate(k, t);
    default:
      co_return kNoCall;
  }
}

}  // namespace uncore
