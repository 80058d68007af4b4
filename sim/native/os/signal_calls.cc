// Calls about signals.
#include "os/calls.hh"

namespace uncore::calls {

namespace {
constexpr uint64_t kSetBytes = 8;  // of sigset_t
}

Work rt_sigaction(Linux& os, Task& t) {
  const uint64_t number = t.args[0];
  if (number == 0 || number > Signals::kMost || t.args[3] != kSetBytes) co_return -EINVAL;
  if (t.args[1] && Signals::blockable(Signals::bit(number)) == 0) co_return -EINVAL;
  const Signals::Action before = os.signals.action(number);
  if (t.args[1]) {
    Signals::Action action;
    const int64_t failed = co_await os.memory.read(t, t.args[1], action);
    if (failed < 0) co_return failed;
    os.signals.set_action(number, action);
  }
  co_return t.args[2] ? co_await os.memory.write(t, before, t.args[2]) : 0;
}

Work rt_sigprocmask(Linux& os, Task& t) {
  enum : uint64_t { SIG_BLOCK = 0, SIG_UNBLOCK = 1, SIG_SETMASK = 2 };
  const uint64_t before = t.blocked;
  if (t.args[3] != kSetBytes || t.args[0] > SIG_SETMASK) co_return -EINVAL;
  if (t.args[1]) {
    uint64_t set = 0;
    const int64_t failed = co_await os.memory.read(t, t.args[1], set);
    if (failed < 0) co_return failed;
    if (t.args[0] == SIG_BLOCK) set = before | set;
    if (t.args[0] == SIG_UNBLOCK) set = before & ~set;
    t.blocked = Signals::blockable(set);
  }
  co_return t.args[2] ? co_await os.memory.put(t, t.args[2], before, kSetBytes) : 0;
}

Work rt_sigreturn(Linux& os, Task& t) { co_return co_await os.signals.restore(t); }

Work sigaltstack(Linux& os, Task& t) {
  constexpr uint64_t SS_DISABLE = 2;
  struct {
    uint64_t address, flags, size;  // stack_t
  } next{}, before{.address = t.other_stack[0],
                   .flags = t.other_stack[1] ? 0 : SS_DISABLE,
                   .size = t.other_stack[1]};
  if (t.args[0]) {
    const int64_t failed = co_await os.memory.read(t, t.args[0], next);
    if (failed < 0) co_return failed;
    t.other_stack = {next.address, next.flags & SS_DISABLE ? 0 : next.size};
  }
  co_return t.args[1] ? co_await os.memory.write(t, before, t.args[1]) : 0;
}

Work tkill(Linux& os, Task& t) {
  Task* const to = os.tasks.find(t.args[0]);
  if (!to) co_return -ESRCH;
  co_return co_await os.signals.send(t, t.hart, *to, static_cast<unsigned>(t.args[1]));
}

Work tgkill(Linux& os, Task& t) {
  Task* const to = os.tasks.find(t.args[1]);
  if (!to || t.args[0] != os.tasks.pid()) co_return -ESRCH;
  co_return co_await os.signals.send(t, t.hart, *to, static_cast<unsigned>(t.args[2]));
}

Work kill(Linux& os, Task& t) {
  if (t.args[0] != os.tasks.pid() && t.args[0] != 0) co_return -ESRCH;
  co_return co_await os.signals.send_to_process(t, t.hart, static_cast<unsigned>(t.args[1]));
}

}  // namespace uncore::calls
