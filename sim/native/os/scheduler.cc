#include "os/scheduler.hh"

#include <algorithm>
#include <utility>

#include "core/thread_port.hh"

namespace uncore {

// K7.1: a thread of SCHED_FIFO runs as long as it wants.
void Scheduler::give_slice(const Task& task) {
  Cpu& cpu = cpus_[task.hart];
  const bool fifo = task.policy == Task::kFifo;
  cpu.slice_ends = fifo ? kNever : task.now() + around_.process().costs.quantum;
  cpu.slice_policy = task.policy;
  set_timer(task.hart);
}

void Scheduler::install(uint32_t hart, Task& task) {
  Thread& thread = *around_.harts[hart];
  std::ranges::copy(task.registers.x, thread.hart.x);
  thread.hart.pc = task.registers.pc;
  thread.hart.write_csr(CsrNumber::fcsr, task.registers.fcsr);
  thread.hart.woken();
  task.state = Task::State::running;
  task.hart = hart;
  task.thread = &thread;
  task.runs_since = thread.hart.clock;
  queues_.set_current(hart, &task);
  thread.in_kernel = task.busy();
  thread.kernel_read = 0;
  give_slice(task);
}

// The task is on no hart from now on; the hart looks for another one.
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

// The hart sleeps until an interrupt, which may be pending already.
void Scheduler::idle(uint32_t hart) {
  Thread& thread = *around_.harts[hart];
  set_timer(hart);
  thread.in_kernel = false;
  if (!thread.hart.wakes()) thread.mode = Thread::Mode::idle;
}

Work Scheduler::schedule(uint32_t hart) {
  Flow& flow = cpus_[hart].flow;
  for (;;) {
    const Task* const stolen = queues_.steal_for(hart);
    if (queues_.empty(hart) && !stolen) break;
    Task* next = nullptr;
    co_await queues_.take(flow, stolen ? stolen->hart : hart, stolen, next);
    if (!next) continue;  // another hart was quicker
    co_await flow.spend(around_.process().costs.switching);
    install(hart, *next);
    co_return 0;
  }
  idle(hart);
  co_return 0;
}

Work Scheduler::enqueue(Flow& by, uint32_t from, uint32_t to, Task& task) {
  co_await queues_.add(by, to, task);
  const Task* const runs = current(to);
  if (to != from && (!runs || runs->priority < task.priority)) co_await by.interrupt(to);
  co_return 0;
}

Work Scheduler::start(Task& by, Task& task) {
  co_return co_await enqueue(by, by.hart, queues_.select_hart(task), task);
}

Work Scheduler::wake(Flow& by, uint32_t from, Task& task) {
  if (task.state != Task::State::sleeping) co_return 0;
  timers_.disarm(task.hart, task.until, task.tid);
  task.state = Task::State::ready;
  co_return co_await enqueue(by, from, queues_.select_hart(task), task);
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
  if (!queues_.takes_turns(task)) co_return 0;
  co_return co_await give_way(task, RunQueues::Place::behind);
}

Work Scheduler::give_way(Task& task, RunQueues::Place place) {
  co_await queues_.put_back(task, place);
  deschedule(task, Task::State::ready);
  co_await task.suspend();
  co_return 0;
}

Work Scheduler::retire(Task& task) {
  deschedule(task, Task::State::dead);
  co_await task.suspend();
  co_return 0;
}

// A task that runs moves when it is interrupted; one that sleeps, when it is woken.
Work Scheduler::move(Task& by, Task& task) {
  if (task.allowed[task.hart]) co_return 0;
  if (&task == &by) co_return co_await migrate(by);
  if (task.state == Task::State::running) co_await by.interrupt(task.hart);
  if (task.state != Task::State::ready) co_return 0;
  const int64_t queued = co_await queues_.remove(by, task);
  if (queued) co_await start(by, task);
  co_return 0;
}

// One that runs looks at its slice and at the queue when it is interrupted; the caller, at the end
// of its call.
Work Scheduler::change(Task& by, Task& task, uint32_t policy, uint32_t priority) {
  const int64_t queued =
      task.state == Task::State::ready ? co_await queues_.remove(by, task) : int64_t{0};
  task.policy = policy, task.priority = priority;
  if (queued) co_return co_await start(by, task);
  if (&task != &by && task.state == Task::State::running) co_await by.interrupt(task.hart);
  co_return 0;
}

Work Scheduler::migrate(Task& task) {
  const uint32_t from = task.hart, to = queues_.select_hart(task);
  deschedule(task, Task::State::ready);  // on no queue yet: no hart runs it before it has left
  cpus_[from].flow.take_up(finish_migration(from, to, task));
  co_await task.suspend();
  co_return 0;
}

Work Scheduler::finish_migration(uint32_t from, uint32_t to, Task& task) {
  co_await enqueue(cpus_[from].flow, from, to, task);
  co_return co_await schedule(from);
}

// K7: at the end of the task's slice the next task runs, or this one once more; at once, where a
// more urgent one waits (K7.1). Where another hart idles, this task goes there.
Work Scheduler::resume(Task& task) {
  if (!task.allowed[task.hart]) co_await migrate(task);
  const Cpu& cpu = cpus_[task.hart];
  if (cpu.slice_policy != task.policy) give_slice(task);
  const bool over = task.now() >= cpu.slice_ends;
  if (queues_.outranks(task) || (over && queues_.takes_turns(task))) {
    if (queues_.load(queues_.select_hart(task)) == 0) co_return co_await migrate(task);
    co_return co_await give_way(task, over ? RunQueues::Place::behind : RunQueues::Place::before);
  }
  if (over) give_slice(task);
  co_return 0;
}

void Scheduler::set_timer(uint32_t hart) {
  Thread& thread = *around_.harts[hart];
  Time due = timers_.next(hart);
  if (current(hart)) due = std::min(due, cpus_[hart].slice_ends);
  const uint64_t ns = due == kNever ? ~uint64_t{0} : (due + 999) / 1000;
  thread.write_register({Register::Kind::mtimecmp, hart}, ns);
}

}  // namespace uncore
