// Calls about time, which is simulated time (K11): all clocks show the same, but those of the time
// of day begin with the year 2026.
#include <algorithm>
#include <array>

#include "os/calls.hh"

#undef TIMER_ABSTIME  // of the host's <time.h>

namespace uncore::calls {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;       // ns
constexpr uint64_t kLongest = uint64_t{1} << 22;  // s, 48 days: no run lasts as long
constexpr uint64_t kLastClock = 11;               // CLOCK_TAI
constexpr uint64_t ITIMER_REAL = 0, TIMER_ABSTIME = 1;

constexpr bool is_of_day(uint64_t clock) {
  // CLOCK_REALTIME, _REALTIME_COARSE, _REALTIME_ALARM, _TAI
  return clock == 0 || clock == 5 || clock == 8 || clock == 11;
}

uint64_t nanoseconds(const Task& t, uint64_t clock) {
  return t.now() / 1000 + (is_of_day(clock) ? kYear2026 * kSecond : 0);
}

// Sleeps. If a signal ends that, the time that is left goes to `rest`, unless that is null.
Work sleep_until(Linux& os, Task& t, Time then, uint64_t rest) {
  const int64_t ended = co_await os.signals.wait(t, then, [] { return false; });
  if (ended == -ETIMEDOUT) co_return 0;
  if (rest) co_await put_time(os, t, then > t.now() ? (then - t.now()) / 1000 : 0, rest);
  co_return -EINTR;
}

}  // namespace

Work put_time(Linux& os, Task& t, uint64_t ns, uint64_t to, uint64_t unit) {
  const int64_t failed = co_await os.memory.put(t, to, ns / kSecond, 8);
  if (failed < 0) co_return failed;
  co_return co_await os.memory.put(t, to + 8, ns % kSecond / unit, 8);
}

Work read_time(Linux& os, Task& t, uint64_t from, uint64_t clock, bool relative, Time& then) {
  struct {
    uint64_t seconds, nanoseconds;
  } time{};
  const int64_t failed = co_await os.memory.read(t, from, time);
  if (failed < 0) co_return failed;
  if (time.nanoseconds >= kSecond || time.seconds >= uint64_t{1} << 63) co_return -EINVAL;
  if (!relative && is_of_day(clock))
    time.seconds = time.seconds > kYear2026 ? time.seconds - kYear2026 : 0;
  if (time.seconds >= kLongest) {
    then = kNever;
    co_return 0;
  }
  const __uint128_t ps = (__uint128_t{time.seconds} * kSecond + time.nanoseconds) * 1000 +
                         (relative ? t.now() : Time{0});
  then = ps < kNever / 2 ? static_cast<Time>(ps) : kNever;
  co_return 0;
}

Work clock_gettime(Linux& os, Task& t) {
  if (t.args[0] > kLastClock) co_return -EINVAL;
  co_return co_await put_time(os, t, nanoseconds(t, t.args[0]), t.args[1]);
}

Work clock_getres(Linux& os, Task& t) {
  if (t.args[0] > kLastClock) co_return -EINVAL;
  if (t.args[1] == 0) co_return 0;
  co_return co_await put_time(os, t, 1, t.args[1]);
}

Work gettimeofday(Linux& os, Task& t) {
  if (t.args[0] == 0) co_return 0;
  co_return co_await put_time(os, t, nanoseconds(t, kClockRealtime), t.args[0], 1000);
}

Work getitimer(Linux& os, Task& t) {
  if (t.args[0] != ITIMER_REAL) co_return -EINVAL;
  const auto [at, every, hart] = os.timers.interval();
  const Time left = at == kNever || at < t.now() ? 0 : at - t.now();
  const int64_t failed = co_await put_time(os, t, every / 1000, t.args[1], 1000);
  if (failed < 0) co_return failed;
  co_return co_await put_time(os, t, left / 1000, t.args[1] + 16, 1000);
}

// SIGALRM after `value`, then every `interval`.
Work setitimer(Linux& os, Task& t) {
  if (t.args[0] != ITIMER_REAL) co_return -EINVAL;
  constexpr uint64_t kMicroseconds = kSecond / 1000;  // of a second
  struct {
    uint64_t interval_s, interval_us, value_s, value_us;
  } next{};
  if (t.args[1]) {
    const int64_t failed = co_await os.memory.read(t, t.args[1], next);
    if (failed < 0) co_return failed;
  }
  if (next.interval_us >= kMicroseconds || next.value_us >= kMicroseconds) co_return -EINVAL;
  if (t.args[2]) {
    t.args[1] = t.args[2];
    const int64_t failed = co_await getitimer(os, t);
    if (failed < 0) co_return failed;
  }
  const auto ps = [](uint64_t s, uint64_t us) {
    return static_cast<Time>((std::min(s, kLongest) * kMicroseconds + us) * 1'000'000);
  };
  const Time value = ps(next.value_s, next.value_us);
  os.timers.set_interval({.at = value ? t.now() + value : kNever,
                          .every = ps(next.interval_s, next.interval_us),
                          .hart = t.hart});
  os.scheduler.set_timer(t.hart);
  co_return 0;
}

Work nanosleep(Linux& os, Task& t) {
  Time then = 0;
  const int64_t failed = co_await read_time(os, t, t.args[0], kClockMonotonic, true, then);
  if (failed < 0) co_return failed;
  co_return co_await sleep_until(os, t, then, t.args[1]);
}

Work clock_nanosleep(Linux& os, Task& t) {
  Time then = 0;
  const bool relative = !(t.args[1] & TIMER_ABSTIME);
  const int64_t failed = co_await read_time(os, t, t.args[2], t.args[0], relative, then);
  if (failed < 0) co_return failed;
  if (then <= t.now()) co_return 0;
  co_return co_await sleep_until(os, t, then, relative ? t.args[3] : 0);
}

}  // namespace uncore::calls
