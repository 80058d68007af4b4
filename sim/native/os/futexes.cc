#include "os/futexes.hh"

#include <algorithm>
#include <bit>
#include <utility>

#include "os/uapi.hh"

namespace uncore {

namespace {

constexpr uint64_t kBucketsEach = 256;  // buckets per hart (futex_init, kernel/futex/core.c)

// Removes from a bucket at most `max_tasks` tasks that wait for the word, and clears their
// `waits_on`.
std::vector<Task*> take(std::deque<Task*>& tasks, uint64_t word, uint64_t max_tasks,
                        uint32_t mask) {
  std::vector<Task*> taken;
  std::erase_if(tasks, [&](Task* t) {
    if (t->waits_on != word || !(t->futex_bits & mask) || taken.size() >= max_tasks) return false;
    t->waits_on = 0;
    taken.push_back(t);
    return true;
  });
  return taken;
}

// Returns the new value of the second word for a FUTEX_OP code. op_compares() is the code's
// comparison on the old value.
uint32_t op_value(uint32_t code, uint32_t old) {
  uint32_t operand = code << 8 >> 20;
  if (code >> 31) operand = 1u << (operand & 31);  // FUTEX_OP_OPARG_SHIFT
  switch (code >> 28 & 7) {
    case 0:  // FUTEX_OP_SET
      return operand;
    case 1:  // FUTEX_OP_ADD
      return old + operand;
    case 2:  // FUTEX_OP_OR
      return old | operand;
    case 3:  // FUTEX_OP_ANDN
      return old & ~operand;
    default:  // FUTEX_OP_XOR
      return old ^ operand;
  }
}
bool op_compares(uint32_t code, uint32_t word) {
  const auto old = static_cast<int32_t>(word), with = static_cast<int32_t>(code << 20) >> 20;
  switch (code >> 24 & 15) {
    case 0:  // FUTEX_OP_CMP_EQ
      return old == with;
    case 1:  // NE
      return old != with;
    case 2:  // LT
      return old < with;
    case 3:  // LE
      return old <= with;
    case 4:  // GT
      return old > with;
    default:  // GE
      return old >= with;
  }
}

}  // namespace

Futexes::Futexes(const LinuxContext& context, const SpinLocks& locks, Scheduler& scheduler,
                 UserMemory& memory, Signals& signals)
    : locks_(locks),
      scheduler_(scheduler),
      memory_(memory),
      signals_(signals),
      line_(context.machine.line),
      buckets_(std::bit_ceil(kBucketsEach * context.agents.harts())) {
  const uint64_t a_page = AddressSpace::kPage / line_;
  for (uint64_t b = 0; b < buckets_.size(); b += a_page)
    context.map.place_page(bucket(b) >> kUnitShift,
                           context.agents.core_of(b / a_page % context.agents.harts()));
}

std::size_t Futexes::bucket_of(uint64_t word) const {
  return (word * 0x9E3779B97F4A7C15u >> 32) & (buckets_.size() - 1);
}

// Inserts the task into a bucket, after all tasks of its own or higher priority (K7.1).
void Futexes::join(Bucket& bucket, Task& task) {
  const auto goes_first = [&](const Task* t) { return t->priority >= task.priority; };
  bucket.insert(std::ranges::partition_point(bucket, goes_first), &task);
}

Work Futexes::wake_all(Task& by, const std::vector<Task*>& tasks) {
  for (Task* const t : tasks) co_await scheduler_.wake(by, by.hart, *t);
  co_return static_cast<int64_t>(tasks.size());
}

Work Futexes::wait(Task& t, uint64_t word, uint32_t expected, Time until, uint32_t mask) {
  const std::size_t b = bucket_of(word);
  if (mask == 0) co_return -EINVAL;
  const int64_t error = co_await memory_.reach(t, word, 4);
  if (error < 0) co_return error;
  co_await locks_.lock(t, bucket(b));
  co_await t.fence();
  const auto value = static_cast<uint32_t>(co_await t.load(word, 4));
  if (value == expected) {
    t.waits_on = word, t.futex_bits = mask;
    join(buckets_[b], t);
  }
  co_await locks_.unlock(t, bucket(b));
  if (value != expected) co_return -EAGAIN;
  const int64_t failure = co_await signals_.wait(t, until, [&] { return !t.waits_on; });
  if (failure == 0) co_return 0;
  const int64_t still_waited = co_await leave(t);
  co_return still_waited ? failure : 0;
}

// Removes the task from its bucket, which a requeue may have changed. Returns 1 if the task was
// still waiting, 0 if another task has woken it.
Work Futexes::leave(Task& t) {
  const std::size_t b = bucket_of(t.waits_on);
  co_await locks_.lock(t, bucket(b));
  const bool waited = std::exchange(t.waits_on, 0) != 0;
  if (waited) std::erase(buckets_[b], &t);
  co_await locks_.unlock(t, bucket(b));
  co_return waited;
}

Work Futexes::wake(Task& t, uint64_t word, uint64_t max_tasks, uint32_t mask) {
  const std::size_t b = bucket_of(word);
  if (mask == 0) co_return -EINVAL;
  co_await t.fence();
  // One load of the bucket's line shows whether a task waits (Linux's futex_hb_waiters_pending).
  if (!locks_.cost_nothing) co_await t.load(bucket(b), 4);
  if (buckets_[b].empty()) co_return 0;
  co_await locks_.lock(t, bucket(b));
  const std::vector<Task*> taken = take(buckets_[b], word, max_tasks, mask);
  co_await locks_.unlock(t, bucket(b));
  co_return co_await wake_all(t, taken);
}

// Locks the lower-numbered bucket first, so that two tasks that lock the same pair do not deadlock.
Work Futexes::lock_both(Task& t, std::size_t a, std::size_t b) {
  co_await locks_.lock(t, bucket(std::min(a, b)));
  if (a != b) co_await locks_.lock(t, bucket(std::max(a, b)));
  co_return 0;
}
Work Futexes::unlock_both(Task& t, std::size_t a, std::size_t b) {
  co_await locks_.unlock(t, bucket(a));
  if (a != b) co_await locks_.unlock(t, bucket(b));
  co_return 0;
}

Work Futexes::requeue(Task& t, const Requeue& arguments) {
  const std::size_t a = bucket_of(arguments.from), b = bucket_of(arguments.to);
  if (arguments.to % 4 != 0) co_return -EINVAL;
  // The word is accessed only to compare it. A private one need not be mapped otherwise.
  const int64_t error = arguments.expected ? co_await memory_.reach(t, arguments.from, 4) : 0;
  if (error < 0) co_return error;
  co_await lock_both(t, a, b);
  co_await t.fence();
  bool differs = false;
  if (arguments.expected)
    differs = static_cast<uint32_t>(co_await t.load(arguments.from, 4)) != *arguments.expected;
  std::vector<Task*> taken, moved;
  if (!differs) {
    taken = take(buckets_[a], arguments.from, arguments.wake, kAny);
    moved = take(buckets_[a], arguments.from, arguments.move, kAny);
    for (Task* const task : moved) {
      task->waits_on = arguments.to;
      join(buckets_[b], *task);
    }
  }
  co_await unlock_both(t, a, b);
  if (differs) co_return -EAGAIN;
  const int64_t woken = co_await wake_all(t, taken);
  co_return woken + static_cast<int64_t>(moved.size());
}

Work Futexes::wake_op(Task& t, const WakeOp& arguments) {
  const std::size_t a = bucket_of(arguments.first), b = bucket_of(arguments.second);
  if (arguments.second % 4 != 0) co_return -EINVAL;
  const int64_t error = co_await memory_.reach(t, arguments.second, 4);
  if (error < 0) co_return error;
  co_await lock_both(t, a, b);
  uint64_t old = co_await t.load(arguments.second, 4);
  for (uint64_t compared = ~uint64_t{0}; compared != old;) {
    compared = old;
    const uint32_t value = op_value(arguments.code, static_cast<uint32_t>(compared));
    old = co_await t.amo(Amo::cas, arguments.second, 4, value, compared);
  }
  std::vector<Task*> taken = take(buckets_[a], arguments.first, arguments.wake_first, kAny);
  if (op_compares(arguments.code, static_cast<uint32_t>(old)))
    for (Task* const task : take(buckets_[b], arguments.second, arguments.wake_second, kAny))
      taken.push_back(task);
  co_await unlock_both(t, a, b);
  co_return co_await wake_all(t, taken);
}

}  // namespace uncore
