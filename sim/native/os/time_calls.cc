// System calls on time. All clocks show simulated time (K11). The realtime clocks start at the
// beginning of 2026, the monotonic ones at kUptime, and the CPU-time clocks show the CPU time of
// the process or of a thread.
#include <algorithm>
#include <array>
#include <optional>

#include "os/calls.hh"

#undef TIMER_ABSTIME  // the host's <time.h> defines it

namespace uncore::calls {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;     // ns
constexpr uint64_t kTickNs = 4'000'000;              // ns: CONFIG_HZ is 250 in riscv's defconfig
constexpr uint64_t kMaxSeconds = uint64_t{1} << 22;  // s (48 days); longer times count as never
constexpr uint64_t kLastClock = 11;                  // CLOCK_TAI
constexpr uint64_t ITIMER_REAL = 0, ITIMER_PROF = 2, TIMER_ABSTIME = 1;
constexpr uint64_t kMicrosecondsPerSecond =
    kNsPerSecond / 1000;  // number of microseconds in a second

constexpr bool is_realtime(uint64_t clock) {
  // CLOCK_REALTIME, _REALTIME_COARSE, _REALTIME_ALARM, _TAI
  return clock == 0 || clock == 5 || clock == 8 || clock == 11;
}

constexpr bool is_monotonic(uint64_t clock) {
  // CLOCK_MONOTONIC, _MONOTONIC_RAW, _MONOTONIC_COARSE, _BOOTTIME, _BOOTTIME_ALARM
  return clock == 1 || clock == 4 || clock == 6 || clock == 7 || clock == 9;
}
constexpr bool is_coarse(uint64_t clock) { return clock == 5 || clock == 6; }

// Returns the clock's time at simulated time 0, in seconds.
constexpr uint64_t start_of(uint64_t clock) {
  return is_realtime(clock) ? kYear2026 : is_monotonic(clock) ? kUptime : 0;
}

// Returns the time of a clock. The coarse ones show the time of the last tick.
uint64_t nanoseconds(const Task& t, uint64_t clock) {
  const uint64_t now = t.now() / 1000;
  return (is_coarse(clock) ? now - now % kTickNs : now) + start_of(clock) * kNsPerSecond;
}

// Returns the time of the clock with this id in ns, or nothing if there is no such clock. A
// negative id names the CPU clock of a process or thread: ~(id >> 3) is the pid or tid, bit 2 is
// set for a thread, and bits 0 and 1 are the kind of clock.
std::optional<uint64_t> time_of(const Linux& os, const Task& t, uint64_t clock) {
  constexpr int32_t kProcess = 2, kThread = 3, kOfThread = 4, kClockMask = 3;
  const auto id = static_cast<int32_t>(clock);
  const auto id_of_owner = static_cast<uint32_t>(~(id >> 3));
  if (id < 0 && (id & kClockMask) == kClockMask) return std::nullopt;
  const bool of_process = id == kProcess || (id < 0 && !(id & kOfThread));
  if (id == kThread || (id < 0 && !of_process && id_of_owner == 0))
    return t.cpu_time(t.now()) / 1000;
  if (of_process && (id >= 0 || id_of_owner == 0 || id_of_owner == os.tasks.pid()))
    return (id < 0 && (id & kClockMask) == kClockMask)
               ? std::nullopt
               : std::optional(os.tasks.cpu_time(t.now()) / 1000);
  if (id < 0) {
    const Task* const task = of_process ? nullptr : os.tasks.find(id_of_owner);
    return task ? std::optional(task->cpu_time(t.now()) / 1000) : std::nullopt;
  }
  constexpr int32_t kNone = 10;  // CLOCK_SGI_CYCLE, which Linux has removed
  const bool known = id != kNone && id <= static_cast<int32_t>(kLastClock);
  return known ? std::optional(nanoseconds(t, static_cast<uint32_t>(id))) : std::nullopt;
}

// Returns whether clock_nanosleep supports the clock. It does not support CLOCK_THREAD_CPUTIME_ID
// and the raw and coarse clocks.
constexpr bool supports_nanosleep(uint32_t clock) { return clock < 3 || clock > 6; }

// Sleeps until `then`. If a signal ends the sleep, writes the remaining time to `remaining`, unless
// that is null.
Work sleep_until(Linux& os, Task& t, Time then, uint64_t remaining) {
  const int64_t ended = co_await os.signals.wait(t, then, [] { return false; });
  if (ended == -ETIMEDOUT) co_return 0;
  if (remaining) co_await put_time(os, t, then > t.now() ? (then - t.now()) / 1000 : 0, remaining);
  co_return -EINTR;
}

}  // namespace

Work put_time(Linux& os, Task& t, uint64_t ns, uint64_t to, uint64_t unit) {
  const int64_t error = co_await os.memory.put(t, to, ns / kNsPerSecond, 8);
  if (error < 0) co_return error;
  co_return co_await os.memory.put(t, to + 8, ns % kNsPerSecond / unit, 8);
}

namespace {
// Reads a timespec at `from`. Its `start` counts as time 0, and what is before it, too.
Work read_since(Linux& os, Task& t, uint64_t from, uint64_t start, Time& then) {
  struct {
    uint64_t seconds, nanoseconds;
  } time{};
  const int64_t error = co_await os.memory.read(t, from, time);
  if (error < 0) co_return error;
  if (time.nanoseconds >= kNsPerSecond || time.seconds >= uint64_t{1} << 63) co_return -EINVAL;
  if (time.seconds < start) {
    then = 0;
    co_return 0;
  }
  const uint64_t seconds = time.seconds - start;
  const __uint128_t ps = (__uint128_t{seconds} * kNsPerSecond + time.nanoseconds) * 1000;
  then = seconds < kMaxSeconds && ps < kNever / 2 ? static_cast<Time>(ps) : kNever;
  co_return 0;
}
}  // namespace

Work read_duration(Linux& os, Task& t, uint64_t from, Time& duration) {
  co_return co_await read_since(os, t, from, 0, duration);
}

Work read_time(Linux& os, Task& t, uint64_t from, uint64_t clock, bool relative, Time& time) {
  const int64_t error = co_await read_since(os, t, from, relative ? 0 : start_of(clock), time);
  if (error == 0 && relative && time != kNever) time = later(t.now(), time);
  co_return error;
}

Work clock_gettime(Linux& os, Task& t) {
  const auto time = time_of(os, t, t.args[0]);
  if (!time) co_return -EINVAL;
  co_return co_await put_time(os, t, *time, t.args[1]);
}

namespace {
// Returns the resolution in ns: a tick for the coarse clocks, and for a CPU clock that counts
// ticks (CPUCLOCK_PROF, CPUCLOCK_VIRT), else 1.
uint64_t resolution_of(uint64_t clock) {
  constexpr int32_t kClockMask = 3, kPrecise = 2;  // CPUCLOCK_CLOCK_MASK, CPUCLOCK_SCHED
  const auto id = static_cast<int32_t>(clock);
  const bool is_precise =
      id < 0 ? (id & kClockMask) == kPrecise : !is_coarse(static_cast<uint32_t>(id));
  return is_precise ? 1 : kTickNs;
}
}  // namespace

Work clock_getres(Linux& os, Task& t) {
  if (!time_of(os, t, t.args[0])) co_return -EINVAL;
  if (t.args[1] == 0) co_return 0;
  co_return co_await put_time(os, t, resolution_of(t.args[0]), t.args[1]);
}

Work gettimeofday(Linux& os, Task& t) {
  if (t.args[0] == 0) co_return 0;
  co_return co_await put_time(os, t, nanoseconds(t, kClockRealtime), t.args[0], 1000);
}

Work getitimer(Linux& os, Task& t) {
  if (t.args[0] > ITIMER_PROF) co_return -EINVAL;
  const bool real = t.args[0] == ITIMER_REAL;
  const Linux::CpuTimer timer =
      real ? Linux::CpuTimer{os.timers.interval().due, os.timers.interval().period}
           : os.cpu_timers[t.args[0] - 1];
  const Time now = real ? t.now() : os.tasks.cpu_time(t.now());
  const auto [due, period] = timer;
  const Time remaining = due == kNever || due < now ? 0 : due - now;
  const int64_t error = co_await put_time(os, t, period / 1000, t.args[1], 1000);
  if (error < 0) co_return error;
  co_return co_await put_time(os, t, remaining / 1000, t.args[1] + 16, 1000);
}

// Sets an interval timer. ITIMER_REAL sends SIGALRM after `value` and then every `interval`;
// ITIMER_VIRTUAL and ITIMER_PROF send SIGVTALRM and SIGPROF, and count CPU time.
Work setitimer(Linux& os, Task& t) {
  const uint64_t timer = static_cast<uint32_t>(t.args[0]);
  struct {
    uint64_t interval_s, interval_us, value_s, value_us;
  } next{};
  if (t.args[1]) {
    const int64_t error = co_await os.memory.read(t, t.args[1], next);
    if (error < 0) co_return error;
  }
  if (next.interval_us >= kMicrosecondsPerSecond || next.value_us >= kMicrosecondsPerSecond)
    co_return -EINVAL;
  if ((next.interval_s | next.value_s) >> 63 || timer > ITIMER_PROF) co_return -EINVAL;
  int64_t written = 0;
  if (t.args[2]) {
    t.args[1] = t.args[2];
    written = co_await getitimer(os, t);
  }
  const auto ps = [](uint64_t s, uint64_t us) {
    return static_cast<Time>((std::min(s, kMaxSeconds) * kMicrosecondsPerSecond + us) * 1'000'000);
  };
  const Time value = ps(next.value_s, next.value_us);
  const Time period = ps(next.interval_s, next.interval_us);
  const Time now = timer == ITIMER_REAL ? t.now() : os.tasks.cpu_time(t.now());
  const Time due = value ? later(now, value) : kNever;
  if (timer != ITIMER_REAL) {
    os.cpu_timers[timer - 1] = {due, period};
    co_return written;
  }
  os.timers.set_interval({.due = due, .period = period, .hart = t.hart});
  os.scheduler.set_timer(t.hart);
  co_return written;
}

Work nanosleep(Linux& os, Task& t) {
  Time then = 0;
  const int64_t error = co_await read_time(os, t, t.args[0], kClockMonotonic, true, then);
  if (error < 0) co_return error;
  co_return co_await sleep_until(os, t, then, t.args[1]);
}

Work clock_nanosleep(Linux& os, Task& t) {
  Time then = 0;
  const bool relative = !(t.args[1] & TIMER_ABSTIME);
  const bool of_cpu = static_cast<int32_t>(t.args[0]) < 0;
  if (of_cpu && os.memory.usable(t.args[2], 16, UserMemory::Use::read) < 16) co_return -EFAULT;
  if (!time_of(os, t, t.args[0])) co_return -EINVAL;
  if (!supports_nanosleep(static_cast<uint32_t>(t.args[0]))) co_return -EOPNOTSUPP;
  const int64_t error = co_await read_time(os, t, t.args[2], t.args[0], relative, then);
  if (error < 0) co_return error;
  if (then <= t.now()) co_return 0;
  co_return co_await sleep_until(os, t, then, relative ? t.args[3] : 0);
}

}  // namespace uncore::calls
