// Calls about time, which is simulated time: the same for every clock, but that of day begins with
// the year 2026.
#include <algorithm>
#include <array>

#include "os/calls.hh"
#include "os/errors.hh"

namespace uncore::calls {
namespace {

constexpr uint64_t kYear2026 = 1'767'225'600;     // seconds since 1970
constexpr uint64_t kSecond = 1'000'000'000;       // ns
constexpr uint64_t kLongest = uint64_t{1} << 22;  // s; simulated time ends before
constexpr uint64_t kReal = 0;                     // ITIMER_REAL
constexpr uint64_t kAbsolute = 1;                 // TIMER_ABSTIME

constexpr bool is_of_day(uint64_t clock) {
  return clock == 0 || clock == 5 || clock == 8 || clock == 11;  // REALTIME..., ALARM, TAI
}

uint64_t nanoseconds(const Kernel& k, const Task& t, uint64_t clock) {
  return k.now(t) / 1000 + (is_of_day(clock) ? kYear2026 * kSecond : 0);
}

Work put_time(Kernel& k, Task& t, uint64_t ns, uint64_t to, uint64_t unit = 1) {
  const int64_t failed = co_await k.put(t, to, ns / kSecond, 8);
  if (failed < 0) co_return failed;
  co_return co_await k.put(t, to + 8, ns % kSecond / unit, 8);
}

Work sleep_until(Kernel& k, Task& t, Time then, uint64_t rest) {
  const int64_t over = co_await k.sleep(t, then);
  if (over) co_return 0;
  const Time now = k.now(t);
  if (rest) co_await put_time(k, t, then > now ? (then - now) / 1000 : 0, rest);
  co_return kInterrupted;
}

}  // namespace

// In ps on the hart's clock; `relative` to now. Of a clock of day: less where it begins.
Work read_time(Kernel& k, Task& t, uint64_t from, uint64_t clock, bool relative, Time& then) {
  std::array<uint64_t, 2> time{};
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(time.data()), sizeof time);
  const int64_t failed = co_await k.copy_in(t, from, bytes);
  if (failed < 0) co_return failed;
  if (time[1] >= kSecond || time[0] >= uint64_t{1} << 63) co_return kInvalid;
  if (!relative && is_of_day(clock)) time[0] = time[0] > kYear2026 ? time[0] - kYear2026 : 0;
  if (time[0] >= kLongest) {
    then = kNever;
    co_return 0;
  }
  const __uint128_t ps =
      (__uint128_t{time[0]} * kSecond + time[1]) * 1000 + (relative ? k.now(t) : Time{0});
  then = ps < kNever / 2 ? static_cast<Time>(ps) : kNever;
  co_return 0;
}

Work clock_gettime(Kernel& k, Task& t) {
  if (t.a[0] > 11) co_return kInvalid;
  co_return co_await put_time(k, t, nanoseconds(k, t, t.a[0]), t.a[1]);
}

Work clock_getres(Kernel& k, Task& t) {
  if (t.a[0] > 11) co_return kInvalid;
  if (t.a[1] == 0) co_return 0;
  co_return co_await put_time(k, t, 1, t.a[1]);
}

Work gettimeofday(Kernel& k, Task& t) {
  if (t.a[0] == 0) co_return 0;
  co_return co_await put_time(k, t, nanoseconds(k, t, 0), t.a[0], 1000);
}

Work getitimer(Kernel& k, Task& t) {
  if (t.a[0] != kReal) co_return kInvalid;
  const Time now = k.now(t), left = k.alarm.at == kNever || k.alarm.at < now ? 0 : k.alarm.at - now;
  const int64_t failed = co_await put_time(k, t, k.alarm.every / 1000, t.a[1], 1000);
  if (failed < 0) co_return failed;
  co_return co_await put_time(k, t, left / 1000, t.a[1] + 16, 1000);
}

// SIGALRM after `value`, then every `interval`.
Work setitimer(Kernel& k, Task& t) {
  if (t.a[0] != kReal) co_return kInvalid;
  std::array<uint64_t, 4> asked{};  // the interval, the value: s and us of each
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(asked.data()), sizeof asked);
  int64_t failed = t.a[1] ? co_await k.copy_in(t, t.a[1], bytes) : 0;
  if (failed < 0) co_return failed;
  if (asked[1] >= kSecond / 1000 || asked[3] >= kSecond / 1000) co_return kInvalid;
  if (t.a[2]) {
    t.a[1] = t.a[2];
    failed = co_await getitimer(k, t);
    if (failed < 0) co_return failed;
  }
  const auto ps = [](uint64_t s, uint64_t us) {
    return static_cast<Time>((std::min(s, kLongest) * (kSecond / 1000) + us) * 1'000'000);
  };
  const Time value = ps(asked[2], asked[3]);
  k.set_alarm({value ? k.now(t) + value : kNever, ps(asked[0], asked[1]), t.hart});
  co_return 0;
}

Work nanosleep(Kernel& k, Task& t) {
  Time then = 0;
  const int64_t failed = co_await read_time(k, t, t.a[0], 1, true, then);
  if (failed < 0) co_return failed;
  co_return co_await sleep_until(k, t, then, t.a[1]);
}

Work clock_nanosleep(Kernel& k, Task& t) {
  Time then = 0;
  const bool relative = !(t.a[1] & kAbsolute);
  const int64_t failed = co_await read_time(k, t, t.a[2], t.a[0], relative, then);
  if (failed < 0) co_return failed;
  if (then <= k.now(t)) co_return 0;
  co_return co_await sleep_until(k, t, then, relative ? t.a[3] : 0);
}

}  // namespace uncore::calls
