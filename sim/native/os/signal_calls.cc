// System calls on signals.
#include "os/calls.hh"
#include "os/signal_frame.hh"

namespace uncore::calls {

namespace {
constexpr uint64_t kSetBytes = 8;  // size of sigset_t
enum : uint64_t { SIG_BLOCK = 0, SIG_UNBLOCK = 1, SIG_SETMASK = 2 };

uint64_t changed_mask(uint64_t mask, uint64_t operation, uint64_t set) {
  if (operation == SIG_BLOCK) return mask | set;
  return operation == SIG_UNBLOCK ? mask & ~set : set;
}

SignalInfo from_process(const Linux& os, uint64_t number, int32_t code) {
  return {.number = static_cast<unsigned>(number),
          .code = code,
          .value = os.tasks.pid() | uint64_t{Linux::kUser} << 32};
}

// Sends a signal to a task. Number 0 sends nothing and only checks that the task is alive.
Work send_to(Linux& os, Task& t, uint64_t tid, uint64_t number) {
  Task* const to = os.tasks.find(static_cast<uint32_t>(tid));
  if (!to) co_return -ESRCH;
  if (number > Signals::kMaxSignal) co_return -EINVAL;
  if (number == 0) co_return 0;
  co_return co_await os.signals.send(t, t.hart, *to, from_process(os, number, SI_TKILL));
}
}  // namespace

Work rt_sigaction(Linux& os, Task& t) {
  const uint64_t number = static_cast<uint32_t>(t.args[0]);
  Signals::Action action;
  int64_t error = 0;
  if (t.args[3] != kSetBytes) co_return -EINVAL;
  if (t.args[1]) error = co_await os.memory.read(t, t.args[1], action);
  if (error < 0) co_return error;
  if (number == 0 || number > Signals::kMaxSignal) co_return -EINVAL;
  if (t.args[1] && Signals::blockable(signal_bit(number)) == 0) co_return -EINVAL;
  const Signals::Action former = os.signals.action(number);
  if (t.args[1]) os.signals.set_action(number, action);
  if (!t.args[2]) co_return 0;
  co_return co_await os.memory.write(t, former, t.args[2]);
}

Work rt_sigprocmask(Linux& os, Task& t) {
  const uint64_t former = t.blocked;
  const auto operation = static_cast<uint32_t>(t.args[0]);
  if (t.args[3] != kSetBytes) co_return -EINVAL;
  if (t.args[1]) {
    uint64_t set = 0;
    const int64_t error = co_await os.memory.read(t, t.args[1], set);
    if (error < 0) co_return error;
    if (operation > SIG_SETMASK) co_return -EINVAL;
    co_await os.signals.block(t, changed_mask(former, operation, set));
  }
  if (!t.args[2]) co_return 0;
  co_return co_await os.memory.put(t, t.args[2], former, kSetBytes);
}

Work rt_sigtimedwait(Linux& os, Task& t) {
  uint64_t set = 0;
  Time until = kNever;
  if (t.args[3] != kSetBytes) co_return -EINVAL;
  int64_t error = co_await os.memory.read(t, t.args[0], set);
  if (error < 0) co_return error;
  if (t.args[2]) {
    error = co_await read_time(os, t, t.args[2], kClockMonotonic, true, until);
    if (error < 0) co_return error;
  }
  SignalInfo info;
  error = co_await os.signals.await(t, set, until, info);
  if (error < 0) co_return error == -ETIMEDOUT ? -EAGAIN : -EINTR;
  if (t.args[1]) {
    const SignalFrame::Info siginfo = SignalFrame::info_of(info);
    error = co_await os.memory.write(t, siginfo, t.args[1]);
    if (error < 0) co_return error;
  }
  co_return info.number;
}

Work rt_sigpending(Linux& os, Task& t) {
  if (t.args[1] > kSetBytes) co_return -EINVAL;
  const uint64_t set = os.signals.pending(t) & t.blocked;
  co_return co_await os.memory.put(t, t.args[0], set, static_cast<unsigned>(t.args[1]));
}

Work rt_sigsuspend(Linux& os, Task& t) {
  uint64_t set = 0;
  if (t.args[1] != kSetBytes) co_return -EINVAL;
  const int64_t error = co_await os.memory.read(t, t.args[0], set);
  if (error < 0) co_return error;
  os.signals.mask_in_call(t, set);
  co_await os.signals.wait(t, kNever, [] { return false; });
  co_return -EINTR;
}

// Serves sigqueue(3): sends a signal with a siginfo_t that the sender has filled in.
Work rt_sigqueueinfo(Linux& os, Task& t) {
  SignalFrame::Info info{};
  const int64_t error = co_await os.memory.read(t, t.args[2], info);
  if (error < 0) co_return error;
  if (t.args[0] != os.tasks.pid()) co_return -ESRCH;
  if (t.args[1] > Signals::kMaxSignal) co_return -EINVAL;
  if (t.args[1] == 0) co_return 0;
  const auto number = static_cast<unsigned>(t.args[1]);
  co_return co_await os.signals.send_to_process(
      t, t.hart, {.number = number, .code = info.code, .value = info.value, .sent = info.rest[0]});
}

Work rt_tgsigqueueinfo(Linux& os, Task& t) {
  SignalFrame::Info info{};
  const int64_t error = co_await os.memory.read(t, t.args[3], info);
  if (error < 0) co_return error;
  Task* const to = os.tasks.find(t.args[1]);
  if (!to || t.args[0] != os.tasks.pid()) co_return -ESRCH;
  if (t.args[2] > Signals::kMaxSignal) co_return -EINVAL;
  if (t.args[2] == 0) co_return 0;
  const auto number = static_cast<unsigned>(t.args[2]);
  co_return co_await os.signals.send(
      t, t.hart, *to,
      {.number = number, .code = info.code, .value = info.value, .sent = info.rest[0]});
}

Work rt_sigreturn(Linux& os, Task& t) { co_return co_await os.signals.restore(t); }

Work sigaltstack(Linux& os, Task& t) {
  constexpr uint64_t SS_ONSTACK = 1, SS_DISABLE = 2, kLeastBytes = 2048;  // MINSIGSTKSZ
  constexpr uint32_t SS_AUTODISARM = 1u << 31;
  const auto [stack, room] = t.other_stack;
  const bool on_it = t.is_on_other_stack();
  struct {
    uint64_t address, flags, size;  // stack_t
  } next{}, before{.address = stack,
                   .flags = on_it  ? SS_ONSTACK
                            : room ? 0
                                   : SS_DISABLE,
                   .size = room};
  if (t.args[0]) {
    const int64_t error = co_await os.memory.read(t, t.args[0], next);
    if (error < 0) co_return error;
    if (on_it) co_return -EPERM;
    const uint32_t mode = static_cast<uint32_t>(next.flags) & ~SS_AUTODISARM;
    if (mode != 0 && mode != SS_ONSTACK && mode != SS_DISABLE) co_return -EINVAL;
    if (mode != SS_DISABLE && next.size < kLeastBytes) co_return -ENOMEM;
    t.other_stack = {mode == SS_DISABLE ? 0 : next.address, mode == SS_DISABLE ? 0 : next.size};
  }
  if (!t.args[1]) co_return 0;
  co_return co_await os.memory.write(t, before, t.args[1]);
}

Work tkill(Linux& os, Task& t) {
  if (static_cast<int32_t>(t.args[0]) <= 0) co_return -EINVAL;
  co_return co_await send_to(os, t, t.args[0], static_cast<uint32_t>(t.args[1]));
}

Work tgkill(Linux& os, Task& t) {
  if (static_cast<int32_t>(t.args[0]) <= 0 || static_cast<int32_t>(t.args[1]) <= 0)
    co_return -EINVAL;
  if (static_cast<uint32_t>(t.args[0]) != os.tasks.pid()) co_return -ESRCH;
  co_return co_await send_to(os, t, t.args[1], static_cast<uint32_t>(t.args[2]));
}

Work kill(Linux& os, Task& t) {
  const auto number = static_cast<uint32_t>(t.args[1]);
  const auto tid = static_cast<uint32_t>(t.args[0]);
  const uint32_t group = 0u - os.tasks.pid();
  if (tid != os.tasks.pid() && tid != 0 && tid != group) co_return -ESRCH;
  if (number > Signals::kMaxSignal) co_return -EINVAL;
  if (number == 0) co_return 0;
  co_return co_await os.signals.send_to_process(t, t.hart, from_process(os, number, SI_USER));
}

}  // namespace uncore::calls
