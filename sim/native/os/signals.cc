#include "os/signals.hh"

#include <algorithm>
#include <bit>
#include <utility>

#include "os/signal_frame.hh"

namespace uncore {
namespace {

constexpr uint64_t kNeverBlocked = signal_bit(SIGKILL) | signal_bit(SIGSTOP);
enum : uint64_t {
  SA_ONSTACK = 0x08000000,
  SA_RESTART = 0x10000000,
  SA_NODEFER = 0x40000000,
  SA_RESETHAND = 0x80000000,
};

constexpr bool is_ignored_by_default(unsigned signal) {
  return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

// Returns the set of signals that wake a task: those not blocked, and those it waits for.
uint64_t accepted_signals(const Task& t) { return ~t.blocked | t.awaited; }

// Returns the result of sending a signal that could not be queued. As in Linux, kill(2) does not
// fail, because the signal is pending already.
int64_t error_if_unqueued(const SignalInfo& info) { return info.code == SI_USER ? 0 : -EAGAIN; }

// Makes the task repeat the system call that a signal has interrupted.
void restart(Task& t) {
  t.restarts = false;
  t.thread->hart.pc = t.called_at;
  t.x()[10] = t.args[0];
}

}  // namespace

uint64_t Signals::blockable(uint64_t set) { return set & ~kNeverBlocked; }

void Signals::mask_in_call(Task& t, uint64_t set) {
  t.mask_after = t.blocked;
  t.blocked = blockable(set);
}
void Signals::restore_mask(Task& t) {
  if (t.mask_after) t.blocked = *std::exchange(t.mask_after, std::nullopt);
}

bool Signals::ignores(unsigned number) const {
  const uint64_t handler = actions_[number].handler;
  return handler == SIG_IGN || (handler == SIG_DFL && is_ignored_by_default(number));
}

// Sets a signal's action. If the new action ignores the signal, pending instances are discarded.
void Signals::set_action(uint64_t number, const Action& action) {
  actions_[number] = action;
  if (!ignores(static_cast<unsigned>(number))) return;
  shared_.remove(signal_bit(number));
  for (const auto& task : tasks_.all()) task->pending.remove(signal_bit(number));
}

// Wakes or interrupts the task, so that it checks for signals. A task also checks before it sleeps,
// so no signal is missed.
Work Signals::notify(Flow& by, uint32_t from, Task& to) {
  if (&to == &by) co_return 0;
  if (to.state == Task::State::sleeping) co_return co_await scheduler_.wake(by, from, to);
  if (to.state == Task::State::running) co_await by.interrupt(to.hart);
  co_return 0;
}

// Notifies one task that accepts a signal of the set: the first in the order of creation (K12.1).
Work Signals::notify_any(Flow& by, uint32_t from, uint64_t set) {
  const auto takes = [&](const auto& task) {
    return task->state != Task::State::dead && (set & accepted_signals(*task));
  };
  const auto task = std::ranges::find_if(tasks_.all(), takes);
  if (task != tasks_.all().end()) co_await notify(by, from, **task);
  co_return 0;
}

Work Signals::send(Flow& by, uint32_t from, Task& to, SignalInfo info) {
  const uint64_t bit = signal_bit(info.number);
  if (ignores(info.number) && !(to.blocked & bit)) co_return 0;
  if (!to.pending.try_add(info)) co_return error_if_unqueued(info);
  if (!watched.empty()) co_await watched.wake_all(scheduler_, by, from, POLLIN);
  if (accepted_signals(to) & bit) co_await notify(by, from, to);
  co_return 0;
}

Work Signals::send_to_process(Flow& by, uint32_t from, SignalInfo info) {
  const uint64_t bit = signal_bit(info.number);
  if (ignores(info.number) && !(tasks_.first().blocked & bit)) co_return 0;
  if (!shared_.try_add(info)) co_return error_if_unqueued(info);
  if (!watched.empty()) co_await watched.wake_all(scheduler_, by, from, POLLIN);
  co_return co_await notify_any(by, from, bit);
}

Work Signals::block(Task& t, uint64_t set) {
  const uint64_t newly = blockable(set) & ~t.blocked & shared_.set();
  t.blocked = blockable(set);
  if (newly) co_await notify_any(t, t.hart, newly);
  co_return 0;
}

Work Signals::force(Task& t, SignalInfo info) {
  const Action action = actions_[info.number];
  if (action.handler <= SIG_IGN || (t.blocked & signal_bit(info.number))) co_return -1;
  co_return co_await enter(t, info, action);
}

// The task's own signals are taken before those of the process. Of several signals, the one with
// the lowest number is taken first.
SignalInfo Signals::take(Task& t, uint64_t set) {
  const uint64_t own = t.pending.set() & set, shared = shared_.set() & set;
  const auto number = static_cast<unsigned>(std::countr_zero(own ? own : shared) + 1);
  return own ? t.pending.take(number) : shared_.take(number);
}

Work Signals::await(Task& t, uint64_t set, Time until, SignalInfo& info) {
  t.awaited = blockable(set);
  const int64_t error = co_await wait(t, until, [&] { return pending(t) & t.awaited; });
  if (error == 0) info = take(t, t.awaited);
  t.awaited = 0;
  co_return error;
}

Work Signals::deliver(Task& t) {
  while (due(t)) {
    const SignalInfo info = take(t, ~t.blocked);
    const Action action = actions_[info.number];
    if (ignores(info.number)) continue;
    if (action.handler == SIG_DFL) co_await t.exit(128 + static_cast<int>(info.number));
    if (t.restarts && (action.flags & SA_RESTART)) restart(t);
    t.restarts = false;
    co_await enter(t, info, action);
  }
  if (t.restarts) restart(t);  // no handler has been entered, so the call is repeated
  co_return 0;
}

// Makes the thread continue in the signal's handler, with a frame on the stack for rt_sigreturn.
Work Signals::enter(Task& t, SignalInfo info, Action action) {
  SignalFrame frame{};
  frame.info = SignalFrame::info_of(info);
  frame.mask = std::exchange(t.mask_after, std::nullopt).value_or(t.blocked);
  frame.save(t.thread->hart);
  uint64_t stack = t.x()[kStackPointer];
  const auto [other, size] = t.other_stack;
  if ((action.flags & SA_ONSTACK) && size && !t.is_on_other_stack()) stack = other + size;
  stack = (stack - sizeof frame) & ~uint64_t{15};
  const int64_t error = co_await memory_.write(t, frame, stack);
  if (error < 0) {
    co_await t.give_up("signal " + std::to_string(info.number) + ": no room on the stack, " +
                       describe(t));
  }
  if (action.flags & SA_RESETHAND) actions_[info.number] = {};
  uint64_t* const x = t.x();
  x[1] = context_.process().returns, x[kStackPointer] = stack;  // ra: code that calls rt_sigreturn
  x[10] = info.number, x[11] = stack, x[12] = stack + SignalFrame::kContextOffset;
  t.thread->hart.pc = action.handler;
  const uint64_t itself = action.flags & SA_NODEFER ? 0 : signal_bit(info.number);
  co_return co_await block(t, t.blocked | action.mask | itself);
}

// Sets the pc back by the size of an ecall, because Linux::call() advances it after every call.
Work Signals::restore(Task& t) {
  SignalFrame frame{};
  const int64_t error = co_await memory_.read(t, t.x()[kStackPointer], frame);
  if (error < 0) {
    co_await t.give_up("a signal's handler returns with another stack pointer than it had");
  }
  frame.load(t.thread->hart);
  t.thread->hart.pc -= kEcallBytes;
  co_await block(t, frame.mask);
  co_return static_cast<int64_t>(t.x()[10]);
}

}  // namespace uncore
