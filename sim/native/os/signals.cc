#include "os/signals.hh"

#include <algorithm>
#include <bit>

#include "core/thread_port.hh"
#include "os/signal_frame.hh"
#include "os/uapi.hh"

namespace uncore {
namespace {

constexpr uint64_t kNeverBlocked = Signals::bit(SIGKILL) | Signals::bit(SIGSTOP);
enum : uint64_t {
  SA_ONSTACK = 0x08000000,
  SA_RESTART = 0x10000000,
  SA_NODEFER = 0x40000000,
  SA_RESETHAND = 0x80000000,
};

constexpr bool is_ignored_by_default(unsigned signal) {
  return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

}  // namespace

uint64_t Signals::blockable(uint64_t set) { return set & ~kNeverBlocked; }

Work Signals::send(Flow& by, uint32_t from, Task& to, uint64_t number) {
  if (number > kMost) co_return -EINVAL;
  if (number == 0) co_return 0;
  to.pending |= bit(number);
  if (&to == &by || !due(to)) co_return 0;
  if (to.state == Task::State::sleeping) co_return co_await scheduler_.wake(by, from, to);
  if (to.state == Task::State::running) co_await by.interrupt(to.hart);  // it looks then
  co_return 0;
}

// To the first thread that does not block it, else the first.
Work Signals::send_to_process(Flow& by, uint32_t from, uint64_t number) {
  Task* chosen = nullptr;
  for (const auto& task : tasks_.all()) {
    if (task->state == Task::State::dead) continue;
    if (!chosen) chosen = task.get();
    if (number == 0 || number > kMost || (task->blocked & bit(number))) continue;
    chosen = task.get();
    break;
  }
  co_return co_await send(by, from, *chosen, number);
}

bool Signals::force(Task& t, unsigned number) {
  if (actions_[number].handler <= SIG_IGN) return false;
  t.pending |= bit(number);
  t.blocked &= ~bit(number);
  return true;
}

// The lowest that is due.
Work Signals::deliver(Task& t) {
  const auto number = static_cast<unsigned>(std::countr_zero(t.pending & ~t.blocked) + 1);
  const Action action = actions_[number];
  t.pending &= ~bit(number);
  if (action.handler == SIG_IGN) co_return 0;
  if (action.handler == SIG_DFL && is_ignored_by_default(number)) co_return 0;
  if (action.handler == SIG_DFL) co_await t.exit(128 + static_cast<int>(number));
  if (t.restarts && (action.flags & SA_RESTART))
    t.thread->hart.pc = t.called_at, t.x()[10] = t.args[0];
  co_return co_await enter(t, number, action);
}

// The handler is where the thread goes on.
Work Signals::enter(Task& t, unsigned number, const Action& action) {
  SignalFrame frame{};
  frame.number = static_cast<int32_t>(number);
  frame.mask = t.blocked;
  frame.save(t.thread->hart);
  uint64_t stack = t.x()[kStackPointer];
  const auto [other, size] = t.other_stack;
  if ((action.flags & SA_ONSTACK) && size && stack - other >= size) stack = other + size;
  stack = (stack - sizeof frame) & ~uint64_t{15};
  const int64_t failed = co_await memory_.write(t, frame, stack);
  if (failed < 0)
    co_await t.give_up("signal " + std::to_string(number) + ": no room on the stack, " +
                       describe(t));
  t.blocked |= blockable(action.mask | (action.flags & SA_NODEFER ? 0 : bit(number)));
  if (action.flags & SA_RESETHAND) actions_[number] = {};
  uint64_t* const x = t.x();
  x[1] = around_.process().returns, x[kStackPointer] = stack;
  x[10] = number, x[11] = stack, x[12] = stack + SignalFrame::kContext;
  t.thread->hart.pc = action.handler;
  co_return 0;
}

// Behind it, the call that asked for this one ends: its value is the a0 that was there.
Work Signals::restore(Task& t) {
  SignalFrame frame{};
  const int64_t failed = co_await memory_.read(t, t.x()[kStackPointer], frame);
  if (failed < 0)
    co_await t.give_up("a signal's handler returns with another stack pointer than it had");
  Hart<Thread>& hart = t.thread->hart;
  frame.load(hart);
  hart.pc -= kEcallBytes;
  t.blocked = blockable(frame.mask);
  co_return static_cast<int64_t>(hart.x[10]);
}

}  // namespace uncore
