// Signals, as far as a process of threads sends them to itself: actions, masks, handlers on the
// thread's own stack, and what happens without a handler.
#include <algorithm>
#include <bit>
#include <cstring>

#include "core/thread_port.hh"
#include "os/calls.hh"
#include "os/errors.hh"

namespace uncore {
namespace {

constexpr uint64_t bit(unsigned signal) { return uint64_t{1} << (signal - 1); }
constexpr uint64_t kAlwaysTaken = bit(kKill) | bit(kStop);
constexpr uint64_t kIgnore = 1;
constexpr uint64_t kRestart = 0x10000000, kNoDefer = 0x40000000, kOnce = 0x80000000,
                   kOnOtherStack = 0x08000000;  // SA_...
constexpr unsigned kStack = 2;
constexpr unsigned kFcsrPlace = 32;  // behind f0 to f31

// struct rt_sigframe of riscv64.
struct Frame {
  int32_t number, error, code, pad;
  uint64_t info[14];
  uint64_t flags, link;
  uint64_t stack[3];
  uint64_t mask;
  uint8_t unused[120];
  uint64_t align;
  uint64_t registers[32];  // pc, x1 to x31
  uint64_t floating[66];
};
static_assert(sizeof(Frame) == 128 + 176 + 256 + 528);

constexpr bool is_ignored_by_default(unsigned signal) {
  return signal == kChild || signal == kContinue || signal == kUrgent || signal == kWindow;
}

Frame frame_of(Hart<Thread>& hart, unsigned number, uint64_t blocked) {
  Frame frame{};
  frame.number = static_cast<int32_t>(number);
  frame.mask = blocked;
  std::copy_n(hart.x + 1, 31, frame.registers + 1);
  frame.registers[0] = hart.pc;
  for (unsigned n = kFloatingFrom; n < kRegisters; ++n)
    frame.floating[n - kFloatingFrom] = hart.x[n];
  hart.read_csr(kFcsr, frame.floating[kFcsrPlace]);
  return frame;
}

}  // namespace

Work Kernel::signal(Flow& by, uint32_t from, Task& to, unsigned number) {
  if (number > 64) co_return kInvalid;
  if (number == 0) co_return 0;
  to.pending |= bit(number);
  if (&to == &by || !(to.pending & ~to.blocked)) co_return 0;
  if (to.state == Task::State::sleeping) co_return co_await wake(by, from, to);
  if (to.state == Task::State::running)  // it looks when it is interrupted
    co_await by.device(UC_CLINT_BASE + 4 * uint64_t{to.hart}, 1);
  co_return 0;
}

// To the first thread that does not block it, else the first.
Work Kernel::signal_process(Flow& by, uint32_t from, unsigned number) {
  Task* chosen = nullptr;
  for (const auto& one : tasks_) {
    if (one->state == Task::State::dead) continue;
    if (!chosen) chosen = one.get();
    if (number == 0 || number > 64 || (one->blocked & bit(number))) continue;
    chosen = one.get();
    break;
  }
  co_return co_await signal(by, from, *chosen, number);
}

// The lowest that is due: its handler is where the thread goes on.
Work Kernel::deliver(Task& t) {
  const auto number = static_cast<unsigned>(std::countr_zero(t.pending & ~t.blocked) + 1);
  const Action action = actions[number];
  t.pending &= ~bit(number);
  if (action.handler == kIgnore || (!action.handler && is_ignored_by_default(number))) co_return 0;
  if (!action.handler) {
    end(t, 128 + static_cast<int>(number));
    co_await t.leave();
  }
  Hart<Thread>& hart = on(t).hart;
  const bool interrupted =
      static_cast<int64_t>(hart.x[10]) == kInterrupted && hart.pc == t.called_at + kEcallBytes;
  if (interrupted && t.restarts && (action.flags & kRestart))
    hart.pc = t.called_at, hart.x[10] = t.a[0];
  const Frame frame = frame_of(hart, number, t.blocked);
  uint64_t stack = hart.x[kStack];
  if ((action.flags & kOnOtherStack) && t.other_stack[1] &&
      stack - t.other_stack[0] >= t.other_stack[1])
    stack = t.other_stack[0] + t.other_stack[1];
  stack = (stack - sizeof frame) & ~uint64_t{15};
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&frame);
  const int64_t failed = co_await copy_out(t, {bytes, sizeof frame}, stack);
  if (failed < 0) {
    give_up(on(t),
            "signal " + std::to_string(number) + ": no room on the stack, " + describe(t, {}));
    co_await t.leave();
  }
  t.blocked |= action.mask | (action.flags & kNoDefer ? 0 : bit(number));
  t.blocked &= ~kAlwaysTaken;
  if (action.flags & kOnce) actions[number] = {};
  uint64_t* const x = on(t).hart.x;
  x[1] = process.returns, x[kStack] = stack;
  x[10] = number, x[11] = stack, x[12] = stack + 128;
  on(t).hart.pc = action.handler;
  co_return 0;
}

namespace calls {

Work rt_sigaction(Kernel& k, Task& t) {
  const uint64_t number = t.a[0];
  if (number == 0 || number > 64 || t.a[3] != 8) co_return kInvalid;
  if (t.a[1] && (bit(static_cast<unsigned>(number)) & kAlwaysTaken)) co_return kInvalid;
  Kernel::Action before = k.actions[number], now;
  if (t.a[1]) {
    const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&now), sizeof now);
    const int64_t failed = co_await k.copy_in(t, t.a[1], bytes);
    if (failed < 0) co_return failed;
    k.actions[number] = now;
  }
  if (!t.a[2]) co_return 0;
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(&before), sizeof before);
  co_return co_await k.copy_out(t, bytes, t.a[2]);
}

Work rt_sigprocmask(Kernel& k, Task& t) {
  const uint64_t before = t.blocked;
  if (t.a[3] != 8 || t.a[0] > 2) co_return kInvalid;
  if (t.a[1]) {
    uint64_t set = 0;
    const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&set), sizeof set);
    const int64_t failed = co_await k.copy_in(t, t.a[1], bytes);
    if (failed < 0) co_return failed;
    const uint64_t wanted[] = {before | set, before & ~set, set};  // SIG_BLOCK, UNBLOCK, SETMASK
    t.blocked = wanted[t.a[0]] & ~kAlwaysTaken;
  }
  co_return t.a[2] ? co_await k.put(t, t.a[2], before, 8) : 0;
}

// Back to where the signal came: its value is the a0 that was there, its place the one before.
Work rt_sigreturn(Kernel& k, Task& t) {
  Frame frame{};
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&frame), sizeof frame);
  const int64_t failed = co_await k.copy_in(t, k.x(t)[kStack], bytes);
  if (failed < 0) {
    k.give_up(k.on(t), "a signal's handler returns with another stack pointer than it had");
    co_await t.leave();
  }
  Hart<Thread>& hart = k.on(t).hart;
  std::copy_n(frame.registers + 1, 31, hart.x + 1);
  hart.pc = frame.registers[0] - Kernel::kEcallBytes;
  for (unsigned n = kFloatingFrom; n < kRegisters; ++n)
    hart.x[n] = frame.floating[n - kFloatingFrom];
  hart.write_csr(kFcsr, static_cast<uint32_t>(frame.floating[kFcsrPlace]));
  t.called_at = 0;  // no call that a later signal could restart
  t.blocked = frame.mask & ~kAlwaysTaken;
  co_return static_cast<int64_t>(hart.x[10]);
}

Work sigaltstack(Kernel& k, Task& t) {
  constexpr uint64_t kDisable = 2;
  uint64_t now[3] = {},
           before[3] = {t.other_stack[0], t.other_stack[1] ? 0 : kDisable, t.other_stack[1]};
  if (t.a[0]) {
    const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(now), sizeof now);
    const int64_t failed = co_await k.copy_in(t, t.a[0], bytes);
    if (failed < 0) co_return failed;
    t.other_stack = {now[0], now[1] & kDisable ? 0 : now[2]};
  }
  if (!t.a[1]) co_return 0;
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(before), sizeof before);
  co_return co_await k.copy_out(t, bytes, t.a[1]);
}

Work tkill(Kernel& k, Task& t) {
  Task* const to = k.find(t.a[0]);
  if (!to) co_return kNoProcess;
  co_return co_await k.signal(t, t.hart, *to, static_cast<unsigned>(t.a[1]));
}

Work tgkill(Kernel& k, Task& t) {
  Task* const to = k.find(t.a[1]);
  if (!to || t.a[0] != k.tasks().front()->tid) co_return kNoProcess;
  co_return co_await k.signal(t, t.hart, *to, static_cast<unsigned>(t.a[2]));
}

Work kill(Kernel& k, Task& t) {
  const uint64_t self = k.tasks().front()->tid;
  if (t.a[0] != self && t.a[0] != 0) co_return kNoProcess;
  co_return co_await k.signal_process(t, t.hart, static_cast<unsigned>(t.a[1]));
}

}  // namespace calls
}  // namespace uncore
