// Timers that programs create: a timerfd is read like a file, a POSIX timer sends a signal.
#include <algorithm>

#include "os/calls.hh"
#include "os/posix_timers.hh"

#undef TIMER_ABSTIME  // the host's <time.h> defines these
#undef CLOCK_BOOTTIME
#undef CLOCK_REALTIME_ALARM
#undef CLOCK_BOOTTIME_ALARM

namespace uncore {
namespace {

enum : uint64_t { TFD_NONBLOCK = O_NONBLOCK, TFD_CLOEXEC = O_CLOEXEC };
enum : uint64_t { TIMER_ABSTIME = 1, TFD_TIMER_CANCEL_ON_SET = 2 };
enum : uint64_t { CLOCK_BOOTTIME = 7, CLOCK_REALTIME_ALARM = 8, CLOCK_BOOTTIME_ALARM = 9 };
constexpr uint64_t kRemovedClock = 10, kLastClock = 11;  // CLOCK_SGI_CYCLE, CLOCK_TAI
enum : uint32_t { SIGEV_SIGNAL = 0, SIGEV_NONE = 1, SIGEV_THREAD = 2, SIGEV_THREAD_ID = 4 };
constexpr uint64_t kNsPerSecond = 1'000'000'000;

struct Itimerspec {  // struct itimerspec
  uint64_t every[2], value[2];
};

class TimerFd : public OpenFile, public Alarm {
 public:
  TimerFd(Timers& timers, uint64_t of, uint64_t flags)
      : OpenFile(O_RDWR | flags), clock(of), timers_(timers) {}
  ~TimerFd() override { timers_.remove(*this); }

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t&) override;
  Work write(Linux&, Task&, UserBuffer, uint64_t&) override { co_return -EINVAL; }
  bool can_write() const override { return false; }
  Stat stat() const override {
    Stat s;
    s.mode = 0600;
    return s;
  }
  uint16_t poll(const Task&) const override { return expired ? POLLIN : 0; }
  Work expire(Linux& os, Flow& by, uint32_t on) override {
    expired += timers_.repeat(*this, os.context.harts[on]->hart.clock);
    co_return co_await ready.wake_all(os.scheduler, by, on, POLLIN);
  }

  const uint64_t clock;
  uint64_t expired = 0;

 private:
  Timers& timers_;
};

Work TimerFd::read(Linux& os, Task& t, UserBuffer to, uint64_t&) {
  if (to.size < sizeof expired) co_return -EINVAL;
  if (!expired && (flags & O_NONBLOCK)) co_return -EAGAIN;
  if (!expired) {
    const WaitQueue::Member waits(ready, t);
    const int64_t error = co_await os.signals.wait(t, kNever, [this] { return expired > 0; });
    if (error < 0) co_return error;
  }
  const uint64_t times = std::exchange(expired, 0);
  const int64_t fault = co_await os.memory.put(t, to.address, times, sizeof times);
  co_return fault < 0 ? fault : static_cast<int64_t>(sizeof times);
}

// Returns the time until the alarm is due, and its interval.
Itimerspec time_left(const Alarm& alarm, Time now) {
  const uint64_t period = alarm.period / 1000;
  const uint64_t remaining =
      alarm.due == kNever ? 0 : (std::max(alarm.due, now + 1000) - now) / 1000;
  return {{period / kNsPerSecond, period % kNsPerSecond},
          {remaining / kNsPerSecond, remaining % kNsPerSecond}};
}

// Sets an alarm to the itimerspec at `from`, and writes the former setting to `old` unless that is
// null.
Work set(Linux& os, Task& t, Alarm& alarm, uint64_t clock, bool relative, uint64_t from,
         uint64_t old) {
  Itimerspec next{};
  Time due = 0, period = 0;
  int64_t error = co_await os.memory.read(t, from, next);
  if (error == 0)
    error = co_await calls::read_time(os, t, from + sizeof next.every, clock, relative, due);
  if (error == 0) error = co_await calls::read_duration(os, t, from, period);
  if (error < 0) co_return error;
  const Itimerspec former = time_left(alarm, t.now());
  const bool armed = next.value[0] || next.value[1];
  os.timers.set(alarm, t.hart, armed ? std::max(due, t.now()) : kNever, period);
  os.scheduler.set_timer(t.hart);
  if (!old) co_return 0;
  co_return co_await os.memory.write(t, former, old);
}

// Checks that the timer's flags are `known`, and the itimerspec at `from`. Returns 0 or an error.
// Takes no simulated time.
int64_t may_set(const Linux& os, uint64_t from, bool known) {
  Itimerspec next{};
  if (!os.memory.peek(from, {reinterpret_cast<uint8_t*>(&next), sizeof next})) return -EFAULT;
  const bool negative = (next.every[0] | next.value[0]) >> 63;
  return !known || negative || next.every[1] >= kNsPerSecond || next.value[1] >= kNsPerSecond
             ? -EINVAL
             : 0;
}

std::shared_ptr<TimerFd> timer_at(Linux& os, uint64_t descriptor) {
  return os.files.at(descriptor).as<TimerFd>();
}
int64_t no_timer(Linux& os, uint64_t descriptor) {
  return os.files.at(descriptor) ? -EINVAL : -EBADF;
}

// Returns whether timer_create supports the clock: not CLOCK_MONOTONIC_RAW, the coarse clocks, and
// the alarm clocks, which need a real-time clock that wakes the machine.
constexpr bool has_timers(uint32_t clock) {
  return clock < 4 || clock == CLOCK_BOOTTIME || clock == kLastClock;
}

std::shared_ptr<PosixTimer> posix_timer(Linux& os, uint64_t id) {
  const auto timer = os.posix_timers.find(static_cast<uint32_t>(id));
  return timer == os.posix_timers.end() ? nullptr : timer->second;
}

}  // namespace

// Sends the timer's signal. Its overrun count is the number of expirations, beyond the first, that
// this signal reports.
Work PosixTimer::expire(Linux& os, Flow& by, uint32_t on) {
  const uint64_t times = os.timers.repeat(*this, os.context.harts[on]->hart.clock);
  Task* const whom = tid ? os.tasks.find(tid) : nullptr;
  if (signal == 0) co_return 0;
  overrun = times - 1;
  const SignalInfo info{
      .number = signal, .code = SI_TIMER, .value = number | overrun << 32, .sent = value};
  if (tid && !whom) co_return 0;
  if (whom) co_return co_await os.signals.send(by, on, *whom, info);
  co_return co_await os.signals.send_to_process(by, on, info);
}

namespace calls {

Work timerfd_create(Linux& os, Task& t) {
  const uint64_t clock = static_cast<uint32_t>(t.args[0]);
  const bool wakes = clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM;
  const bool known = clock <= kClockMonotonic || clock == CLOCK_BOOTTIME || wakes;
  if (!known || (static_cast<uint32_t>(t.args[1]) & ~(TFD_NONBLOCK | TFD_CLOEXEC)))
    co_return -EINVAL;
  if (wakes) co_return -EPERM;  // alarm clocks need CAP_WAKE_ALARM
  const auto timer = std::make_shared<TimerFd>(os.timers, clock, t.args[1] & TFD_NONBLOCK);
  os.timers.add(timer);
  co_return os.files.open(timer, os.limits.descriptors(), t.args[1]);
}

Work timerfd_settime(Linux& os, Task& t) {
  constexpr uint32_t kKnownFlags = TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
  const std::shared_ptr<TimerFd> timer = timer_at(os, t.args[0]);
  const bool known = !(static_cast<uint32_t>(t.args[1]) & ~kKnownFlags);
  if (const int64_t no = may_set(os, t.args[2], known); no < 0) co_return no;
  if (!timer) co_return no_timer(os, t.args[0]);
  timer->expired = 0;
  co_return co_await set(os, t, *timer, timer->clock, !(t.args[1] & TIMER_ABSTIME), t.args[2],
                         t.args[3]);
}

Work timerfd_gettime(Linux& os, Task& t) {
  const std::shared_ptr<TimerFd> timer = timer_at(os, t.args[0]);
  if (!timer) co_return no_timer(os, t.args[0]);
  const Itimerspec spec = time_left(*timer, t.now());
  co_return co_await os.memory.write(t, spec, t.args[1]);
}

Work timer_create(Linux& os, Task& t) {
  struct {  // struct sigevent
    uint64_t value;
    uint32_t signal, notify, tid, pad;
  } event{.value = 0, .signal = SIGALRM, .notify = SIGEV_SIGNAL, .tid = 0, .pad = 0};
  if (t.args[1]) {
    const int64_t error = co_await os.memory.read(t, t.args[1], event);
    if (error < 0) co_return error;
  }
  if (t.args[0] > kLastClock || t.args[0] == kRemovedClock) co_return -EINVAL;
  if (!has_timers(static_cast<uint32_t>(t.args[0]))) co_return -EOPNOTSUPP;
  const bool sends = event.notify == SIGEV_SIGNAL || event.notify == SIGEV_THREAD ||
                     event.notify == SIGEV_THREAD_ID;
  if (!sends && event.notify != SIGEV_NONE) co_return -EINVAL;
  if (sends && event.signal - 1 >= Signals::kMaxSignal) co_return -EINVAL;
  const auto timer = std::make_shared<PosixTimer>();
  timer->number = os.next_timer++;
  timer->clock = t.args[0];
  timer->signal = event.notify == SIGEV_NONE ? 0 : event.signal;
  timer->tid = event.notify == SIGEV_THREAD_ID ? event.tid : 0;
  timer->value = t.args[1] ? event.value : timer->number;
  if (timer->tid && !os.tasks.find(timer->tid)) co_return -EINVAL;
  const int64_t error = co_await os.memory.put(t, t.args[2], timer->number, 4);
  if (error < 0) co_return error;
  os.timers.add(timer);
  os.posix_timers[timer->number] = timer;
  co_return 0;
}

Work timer_settime(Linux& os, Task& t) {
  const std::shared_ptr<PosixTimer> timer = posix_timer(os, t.args[0]);
  if (!timer) co_return -EINVAL;
  co_return co_await set(os, t, *timer, timer->clock, !(t.args[1] & TIMER_ABSTIME), t.args[2],
                         t.args[3]);
}

Work timer_gettime(Linux& os, Task& t) {
  const std::shared_ptr<PosixTimer> timer = posix_timer(os, t.args[0]);
  if (!timer) co_return -EINVAL;
  const Itimerspec spec = time_left(*timer, t.now());
  co_return co_await os.memory.write(t, spec, t.args[1]);
}

Work timer_getoverrun(Linux& os, Task& t) {
  const std::shared_ptr<PosixTimer> timer = posix_timer(os, t.args[0]);
  co_return timer ? static_cast<int64_t>(timer->overrun) : -EINVAL;
}

Work timer_delete(Linux& os, Task& t) {
  const std::shared_ptr<PosixTimer> timer = posix_timer(os, t.args[0]);
  if (!timer) co_return -EINVAL;
  os.timers.remove(*timer);
  os.posix_timers.erase(timer->number);
  co_return 0;
}

}  // namespace calls
}  // namespace uncore
