#include "os/scheduler.hh"

#include <algorithm>
#include <utility>

namespace uncore {

// Begins a time slice for the task. The slice of a SCHED_FIFO task never ends (K7.1).
void Scheduler::give_slice(const Task& task) {
  Cpu& cpu = cpus_[task.hart];
  const bool fifo = task.policy == Task::kFifo;
  cpu.slice_ends = fifo ? kNever : task.now() + context_.process().costs.quantum;
  cpu.slice_policy = task.policy;
  set_timer(task.hart);
}

void Scheduler::install(uint32_t hart, Task& task) {
  Thread& thread = *context_.harts[hart];
  std::ranges::copy(task.registers.x, thread.hart.x);
  thread.hart.pc = task.registers.pc;
  thread.hart.write_csr(CsrNumber::fcsr, task.registers.fcsr);
  thread.hart.woken();
  // The task must see at least what it has seen on another hart (K4.4).
  if (thread.weak) thread.weak->sees_all(thread.hart.clock);
  task.state = Task::State::running;
  task.hart = hart;
  task.thread = &thread;
  task.runs_since = thread.hart.clock;
  queues_.set_current(hart, &task);
  thread.in_kernel = task.busy();
  thread.kernel_read = 0;
  give_slice(task);
}

// Removes the task from its hart, saves its registers, and lets the hart look for another task.
void Scheduler::deschedule(Task& task, Task::State state) {
  Cpu& cpu = cpus_[task.hart];
  task.registers = task.read_registers();
  task.ran += task.now() - task.runs_since;
  task.state = state;
  task.thread = nullptr;
  queues_.set_current(task.hart, nullptr);
  cpu.slice_ends = kNever;
  cpu.flow.take_up(schedule(task.hart));
}

// Makes the hart sleep until an interrupt. If one is pending already, the hart does not sleep.
void Scheduler::idle(uint32_t hart) {
  Thread& thread = *context_.harts[hart];
  queues_.set_idle(hart, true);
  set_timer(hart);
  thread.in_kernel = false;
  if (!thread.hart.wakes()) thread.mode = Thread::Mode::idle;
}

Work Scheduler::schedule(uint32_t hart) {
  Flow& flow = cpus_[hart].flow;
  while (Task* const next = queues_.choose(hart)) {
    co_await queues_.spread(flow, hart, hart);
    co_await queues_.take(flow, hart);
    co_await flow.spend(context_.process().costs.switching);
    if (next->allowed[hart]) {
      install(hart, *next);
      co_return 0;
    }
    queues_.set_current(hart, nullptr);  // meanwhile the task's affinity has excluded this hart
    co_await queues_.add(flow, hart, queues_.assign(*next), *next);
  }
  idle(hart);
  co_return 0;
}

Work Scheduler::start(Task& by, Task& task) {
  co_return co_await queues_.add(by, by.hart, queues_.assign(task), task);
}

Work Scheduler::wake(Flow& by, uint32_t from, Task& task) {
  if (task.state != Task::State::sleeping) co_return 0;
  timers_.disarm(task.hart, task.until, task.tid);
  task.state = Task::State::ready;
  co_return co_await queues_.add(by, from, queues_.assign(task), task);
}

Work Scheduler::sleep(Task& task, Time until) {
  task.timed_out = false;
  task.until = until;
  timers_.arm(task.hart, until, task.tid);
  deschedule(task, Task::State::sleeping);
  co_await task.suspend();
  task.until = kNever;
  co_return task.timed_out;
}

Work Scheduler::yield(Task& task) {
  if (!queues_.has_ready_peer(task)) co_return 0;
  queues_.expect(task.hart);
  co_return co_await leave(task, task.hart, RunQueues::Place::after);
}

// The hart's own flow puts the task on the queue, so that no other hart runs the task before it has
// left this one.
Work Scheduler::leave(Task& task, uint32_t to, RunQueues::Place place) {
  const uint32_t from = task.hart;
  deschedule(task, Task::State::ready);
  cpus_[from].flow.take_up(hand_over(from, to, task, place));
  co_await task.suspend();
  co_return 0;
}

Work Scheduler::hand_over(uint32_t from, uint32_t to, Task& task, RunQueues::Place place) {
  co_await queues_.add(cpus_[from].flow, from, to, task, place);
  co_return co_await schedule(from);
}

Work Scheduler::retire(Task& task) {
  deschedule(task, Task::State::dead);
  co_await task.suspend();
  co_return 0;
}

// Moves the task at once if it is the caller or is on a queue. A running task moves when it is
// interrupted, a sleeping one when it is woken, and one that a hart has chosen once that hart has
// switched to it.
Work Scheduler::move(Task& by, Task& task) {
  const bool leaves = !task.allowed[task.hart];
  if (!leaves && task.state == Task::State::ready)
    co_return co_await queues_.spread(by, by.hart, task.hart);
  if (!leaves) co_return 0;
  if (&task == &by) co_return co_await migrate(by);
  if (task.state == Task::State::running) co_await by.interrupt(task.hart);
  if (task.state == Task::State::ready)
    co_await queues_.requeue(by, by.hart, task, task.policy, task.priority);
  co_return 0;
}

// A running task checks its slice and its queue when it is interrupted. The caller needs no
// interrupt, because it checks them at the end of its system call.
Work Scheduler::change(Task& by, Task& task, uint32_t policy, uint32_t priority) {
  if (task.state == Task::State::ready) {
    const int64_t queued = co_await queues_.requeue(by, by.hart, task, policy, priority);
    if (queued) co_return 0;
  }
  task.policy = policy, task.priority = priority;
  if (&task != &by && task.state == Task::State::running) co_await by.interrupt(task.hart);
  co_return 0;
}

Work Scheduler::migrate(Task& task) {
  co_return co_await leave(task, queues_.assign(task), RunQueues::Place::after);
}

// The task gives way to a more urgent task on its hart's queue at once (K7.1), and to an equally
// urgent one at the end of its time slice (K7).
Work Scheduler::resume(Task& task) {
  if (!task.allowed[task.hart]) co_await migrate(task);
  const Cpu& cpu = cpus_[task.hart];
  if (cpu.slice_policy != task.policy) give_slice(task);
  const bool slice_over = task.now() >= cpu.slice_ends;
  if (queues_.is_outranked(task) || (slice_over && queues_.has_ready_peer(task))) {
    queues_.expect(task.hart);
    co_return co_await leave(task, task.hart,
                             slice_over ? RunQueues::Place::after : RunQueues::Place::before);
  }
  if (slice_over) give_slice(task);
  co_return 0;
}

void Scheduler::set_timer(uint32_t hart) {
  Thread& thread = *context_.harts[hart];
  Time due = timers_.next(hart);
  if (current(hart)) due = std::min(due, cpus_[hart].slice_ends);
  const uint64_t ns = due == kNever ? ~uint64_t{0} : (due + 999) / 1000;
  thread.write_register({Register::Kind::mtimecmp, hart}, ns);
}

}  // namespace uncore
