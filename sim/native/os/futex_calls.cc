// futex(2). Operations with priority inheritance fail, as in a kernel that is built without them.
#include "os/calls.hh"

namespace uncore::calls {
namespace {

enum Operation : uint64_t {
  FUTEX_WAIT = 0,
  FUTEX_WAKE = 1,
  FUTEX_REQUEUE = 3,
  FUTEX_CMP_REQUEUE = 4,
  FUTEX_WAKE_OP = 5,
  FUTEX_WAIT_BITSET = 9,
  FUTEX_WAKE_BITSET = 10,
};
constexpr uint64_t FUTEX_PRIVATE_FLAG = 128, FUTEX_CLOCK_REALTIME = 256;
constexpr uint64_t kOperation = ~uint32_t{FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME};

uint32_t val3_of(const Task& t) { return static_cast<uint32_t>(t.args[5]); }

// Returns the number of tasks to wake. As in Linux, 0 or less wakes one task, because the count is
// compared after a task has been woken.
uint64_t to_wake(uint64_t count) {
  const auto number = static_cast<int32_t>(count);
  return number > 0 ? static_cast<uint64_t>(number) : 1;
}

Work wait(Linux& os, Task& t, bool relative, uint32_t mask) {
  Time until = kNever;
  if (t.args[3]) {
    const uint64_t clock = t.args[1] & FUTEX_CLOCK_REALTIME ? kClockRealtime : kClockMonotonic;
    const int64_t error = co_await read_time(os, t, t.args[3], clock, relative, until);
    if (error < 0) co_return error;
  }
  const auto expected = static_cast<uint32_t>(t.args[2]);
  const int64_t result = co_await os.futexes.wait(t, t.args[0], expected, until, mask);
  co_return result == -ERESTARTSYS&& t.args[3] ? -EINTR : result;
}

Work requeue(Linux& os, Task& t, std::optional<uint32_t> expected) {
  const Futexes::Requeue what{.from = t.args[0],
                              .to = t.args[4],
                              .wake = static_cast<uint32_t>(t.args[2]),
                              .move = static_cast<uint32_t>(t.args[3]),
                              .expected = expected};
  co_return co_await os.futexes.requeue(t, what);
}

Work wake_op(Linux& os, Task& t) {
  const Futexes::WakeOp what{.first = t.args[0],
                             .second = t.args[4],
                             .wake_first = to_wake(t.args[2]),
                             .wake_second = to_wake(t.args[3]),
                             .code = static_cast<uint32_t>(t.args[5])};
  if (!Futexes::knows(what.code)) co_return -ENOSYS;
  co_return co_await os.futexes.wake_op(t, what);
}

// Checks that the word is aligned and, for a shared futex, mapped. A private futex need not be
// mapped, because its address alone identifies it.
Work check_word(Linux& os, Task& t, uint64_t word) {
  if (word % 4 != 0) co_return -EINVAL;
  if (!UserMemory::is_range(word, 4)) co_return -EFAULT;
  co_return t.args[1] & FUTEX_PRIVATE_FLAG ? 0 : co_await os.memory.reach(t, word, 4);
}

Work two_words(Linux& os, Task& t) {
  const bool moves = (t.args[1] & kOperation) != FUTEX_WAKE_OP;
  const int64_t error = co_await check_word(os, t, t.args[4]);
  if (error < 0) co_return error;
  if (!moves) co_return co_await wake_op(os, t);
  const bool compares = (t.args[1] & kOperation) == FUTEX_CMP_REQUEUE;
  co_return co_await requeue(os, t, compares ? std::optional(val3_of(t)) : std::nullopt);
}

// Checks the arguments that Linux checks before it accesses the futex words: the timeout, the
// operation and the bit set.
int64_t may_call(const Linux& os, const Task& t) {
  const uint64_t operation = t.args[1] & kOperation;
  const bool waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
  constexpr uint64_t kNsPerSecond = 1'000'000'000;  // ns
  struct {
    uint64_t seconds, nanoseconds;
  } time{};
  if (waits && t.args[3]) {
    if (!os.memory.peek(t.args[3], {reinterpret_cast<uint8_t*>(&time), sizeof time}))
      return -EFAULT;
    if (time.seconds >> 63 || time.nanoseconds >= kNsPerSecond) return -EINVAL;
  }
  if ((t.args[1] & FUTEX_CLOCK_REALTIME) && operation != FUTEX_WAIT_BITSET) return -ENOSYS;
  const bool known = waits || operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET ||
                     operation == FUTEX_REQUEUE || operation == FUTEX_CMP_REQUEUE ||
                     operation == FUTEX_WAKE_OP;
  if (!known) return -ENOSYS;
  const bool by_bits = operation == FUTEX_WAIT_BITSET || operation == FUTEX_WAKE_BITSET;
  if (by_bits && val3_of(t) == 0) return -EINVAL;
  const bool moves = operation == FUTEX_REQUEUE || operation == FUTEX_CMP_REQUEUE;
  const bool negative = static_cast<int32_t>(t.args[2]) < 0 || static_cast<int32_t>(t.args[3]) < 0;
  return moves && negative ? -EINVAL : 0;
}

}  // namespace

Work futex(Linux& os, Task& t) {
  if (const int64_t no = may_call(os, t); no < 0) co_return no;
  const int64_t error = co_await check_word(os, t, t.args[0]);
  if (error < 0) co_return error;
  switch (t.args[1] & kOperation) {
    case FUTEX_WAIT:
      co_return co_await wait(os, t, true, Futexes::kAny);
    case FUTEX_WAIT_BITSET:
      co_return co_await wait(os, t, false, val3_of(t));
    case FUTEX_WAKE:
      co_return co_await os.futexes.wake(t, t.args[0], to_wake(t.args[2]));
    case FUTEX_WAKE_BITSET:
      co_return co_await os.futexes.wake(t, t.args[0], to_wake(t.args[2]), val3_of(t));
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_WAKE_OP:
      co_return co_await two_words(os, t);
    default:
      co_return -ENOSYS;
  }
}

}  // namespace uncore::calls
