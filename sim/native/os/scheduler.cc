// Which task a hart runs (rules K5 to K8): a queue for each hart, a lock on each queue, and an
// interrupt to a hart that idles.
#include <algorithm>
#include <utility>

#include "core/thread_port.hh"
#include "os/errors.hh"
#include "os/kernel.hh"

namespace uncore {

Task* Kernel::find(uint64_t tid) {
  const uint64_t number = tid - kFirstTid;
  if (number >= tasks_.size() || tasks_[number]->state == Task::State::dead) return nullptr;
  return tasks_[number].get();
}

Task& Kernel::spawn(const Task& parent) {
  Task& task = *tasks_.emplace_back(std::make_unique<Task>());
  task.tid = static_cast<uint32_t>(kFirstTid + tasks_.size() - 1);
  task.allowed = parent.allowed;
  task.blocked = parent.blocked;
  task.hart = parent.hart;
  return task;
}

// ---- a hart and its task

// The task is on no hart from now on; the hart looks for another one.
void Kernel::leave(Task& t, Task::State state) {
  Cpu& h = harts_[t.hart];
  t.registers = registers_of(t);
  t.state = state;
  h.current = nullptr;
  h.slice_ends = kNever;
  h.flow.take_up(dispatch(h));
}

void Kernel::install(Cpu& h, Task& t) {
  Hart<Thread>& hart = h.thread->hart;
  std::ranges::copy(t.registers.x, hart.x);
  hart.pc = t.registers.pc;
  hart.write_csr(kFcsr, t.registers.fcsr);
  hart.woken();
  t.state = Task::State::running;
  t.hart = h.thread->id;
  h.current = &t;
  h.slice_ends = hart.clock + process.costs.quantum;
  h.thread->in_kernel = t.busy();
  h.thread->kernel_read = 0;
  set_timer(h);
}

// Nothing to run: it idles until an interrupt, which may be pending already.
void Kernel::rest(Cpu& h) {
  set_timer(h);
  h.thread->in_kernel = false;
  if (!h.thread->hart.wakes()) h.thread->mode = Thread::Mode::idle;
}

Work Kernel::dispatch(Cpu& h) {
  for (;;) {
    const Task* const other = h.queue.empty() ? steal(h.thread->id) : nullptr;
    if (h.queue.empty() && !other) break;
    const uint32_t from = other ? other->hart : h.thread->id;
    co_await lock(h.flow, queue_line(from));
    Task* const next = take(from, other);
    co_await unlock(h.flow, queue_line(from));
    if (!next) continue;  // somebody was quicker
    co_await h.flow.spend(process.costs.switching);
    install(h, *next);
    co_return 0;
  }
  rest(h);
  co_return 0;
}

// Off a queue: the task, or the first one; null: it is no longer there.
Task* Kernel::take(uint32_t from, const Task* wanted) {
  std::deque<Task*>& queue = harts_[from].queue;
  const auto found = wanted ? std::ranges::find(queue, wanted) : queue.begin();
  if (found == queue.end()) return nullptr;
  Task* const taken = *found;
  queue.erase(found);
  return taken;
}

// The last of the longest queue that may run here; of several queues the lowest hart's.
const Task* Kernel::steal(uint32_t hart) const {
  const Cpu* longest = nullptr;
  for (const Cpu& h : harts_)
    if (!h.queue.empty() && (!longest || h.queue.size() > longest->queue.size())) longest = &h;
  if (!longest) return nullptr;
  for (auto t = longest->queue.rbegin(); t != longest->queue.rend(); ++t)
    if ((*t)->allowed[hart]) return *t;
  return nullptr;
}

// Tasks that run there, or are to.
std::size_t Kernel::load(uint32_t hart) const {
  const Cpu& h = harts_[hart];
  return h.queue.size() + h.coming + (h.current != nullptr);
}

// Where it ran last if that hart idles; the nearest that idles; else the shortest queue.
uint32_t Kernel::place_for(const Task& t) const {
  const auto far = [&](uint32_t h) { return h > t.hart ? h - t.hart : t.hart - h; };
  uint32_t best = ~0u;
  for (uint32_t h = 0; h < harts_.size(); ++h) {
    if (!t.allowed[h]) continue;
    if (best == ~0u || std::pair(load(h), far(h)) < std::pair(load(best), far(best))) best = h;
  }
  return best;
}

Work Kernel::enqueue(Flow& by, uint32_t from, uint32_t to, Task& task) {
  Cpu& h = harts_[to];
  ++h.coming;
  co_await lock(by, queue_line(to));
  task.state = Task::State::ready;
  task.hart = to;
  h.queue.push_back(&task);
  --h.coming;
  co_await unlock(by, queue_line(to));
  if (to != from && !h.current) co_await by.device(UC_CLINT_BASE + 4 * uint64_t{to}, 1);
  co_return 0;
}

Work Kernel::start(Task& by, Task& task) {
  co_return co_await enqueue(by, by.hart, place_for(task), task);
}

Work Kernel::wake(Flow& by, uint32_t from, Task& task) {
  if (task.state != Task::State::sleeping) {
    task.woken = true;
    co_return 0;
  }
  harts_[task.hart].alarms.erase({task.until, task.tid});
  task.state = Task::State::ready;
  co_return co_await enqueue(by, from, place_for(task), task);
}

Work Kernel::sleep(Task& t, Time until) {
  t.timed_out = false;
  if (!std::exchange(t.woken, false)) {
    t.until = until;
    if (until != kNever) harts_[t.hart].alarms.insert({until, t.tid});
    leave(t, Task::State::sleeping);
    co_await t.leave();
    t.until = kNever;
    t.woken = false;
  }
  co_return t.timed_out;
}

Work Kernel::yield(Task& t) {
  Cpu& h = harts_[t.hart];
  if (h.queue.empty()) co_return 0;
  co_await lock(t, queue_line(t.hart));
  h.queue.push_back(&t);
  co_await unlock(t, queue_line(t.hart));
  leave(t, Task::State::ready);
  co_await t.leave();
  co_return 0;
}

// What runs moves when it is interrupted; what sleeps, when it is woken.
Work Kernel::move(Task& by, Task& task) {
  if (task.allowed[task.hart]) co_return 0;
  if (&task == &by) co_return co_await migrate(by);
  if (task.state == Task::State::running)
    co_await by.device(UC_CLINT_BASE + 4 * uint64_t{task.hart}, 1);
  if (task.state != Task::State::ready) co_return 0;
  const uint64_t line = queue_line(task.hart);
  co_await lock(by, line);
  const bool queued = std::erase(harts_[task.hart].queue, &task);
  co_await unlock(by, line);
  if (queued) co_await start(by, task);
  co_return 0;
}

Work Kernel::migrate(Task& t) {
  const uint32_t from = t.hart, to = place_for(t);
  leave(t, Task::State::ready);  // in no queue yet: nobody runs it before it is off its hart
  Cpu& h = harts_[from];
  h.flow.take_up(carry(h, to, t));
  co_await t.leave();
  co_return 0;
}

Work Kernel::carry(Cpu& h, uint32_t to, Task& t) {
  co_await enqueue(h.flow, h.thread->id, to, t);
  co_return co_await dispatch(h);
}

Work Kernel::retire(Task& t) {
  leave(t, Task::State::dead);
  co_await t.leave();
  co_return 0;
}

// ---- timers and interrupts

// For whatever is due first: an alarm, or the end of a task's time.
void Kernel::set_timer(Cpu& h) {
  Time due = h.alarms.empty() ? kNever : h.alarms.begin()->first;
  if (h.current) due = std::min(due, h.slice_ends);
  const uint64_t ns = due == kNever ? ~uint64_t{0} : (due + 999) / 1000;
  h.thread->write_register({Register::Kind::mtimecmp, h.thread->id}, ns);
}

Work Kernel::interrupt(Flow& by, Cpu& h, Fatal why) {
  co_await by.spend(parts.machine.interrupt.entry);
  if ((why.cause & ~kInterruptBit) == kSoftware)
    co_await poked(by, h);
  else
    co_await expire(by, h);
  co_await by.spend(parts.machine.interrupt.exit);
  co_return 0;
}

// The task's time is over: the next one's begins, or its own once more. Where others wait and a
// hart idles, it goes there.
Work Kernel::tick(Task& t) {
  Cpu& h = harts_[t.hart];
  const Time now = h.thread->hart.clock;
  if (now < h.slice_ends) co_return 0;
  if (!h.queue.empty() && load(place_for(t)) == 0) co_return co_await migrate(t);
  if (!h.queue.empty()) co_return co_await yield(t);
  h.slice_ends = now + process.costs.quantum;
  set_timer(h);
  co_return 0;
}

// By another hart: it has queued a task, wants one to look for signals, or waits for a fence.
Work Kernel::poked(Flow& by, Cpu& h) {
  h.thread->write_register({Register::Kind::msip, h.thread->id}, 0);
  if (h.fences.empty()) co_return 0;
  co_await by.fence();
  for (Task* const t : std::exchange(h.fences, {})) {
    --t->fences;
    if (!process.free) co_await by.store(fence_line(t->hart), 4, 0);
  }
  co_return 0;
}

// It serves its own interrupts meanwhile: two that fence at a time wait for each other.
Work Kernel::fence_all(Task& by) {
  co_await by.fence();
  for (Cpu& h : harts_) {
    if (!h.current || h.current == &by) continue;
    ++by.fences;
    h.fences.push_back(&by);
    co_await by.device(UC_CLINT_BASE + 4 * uint64_t{h.thread->id}, 1);
  }
  while (by.fences > 0) {
    co_await by.spend(kPoll);
    if (!process.free) co_await by.load(fence_line(by.hart), 4);
    Cpu& own = harts_[by.hart];
    if (!own.fences.empty()) co_await poked(by, own);
  }
  co_return 0;
}

Work Kernel::idle_interrupt(Cpu& h, Fatal why) {
  co_await interrupt(h.flow, h, why);
  co_return co_await dispatch(h);
}

void Kernel::set_alarm(const Alarm& next) {
  harts_[alarm.hart].alarms.erase({alarm.at, kOfProcess});
  alarm = next;
  if (alarm.at != kNever) harts_[alarm.hart].alarms.insert({alarm.at, kOfProcess});
  set_timer(harts_[alarm.hart]);
}

// Whoever slept as long as it wanted wakes.
Work Kernel::expire(Flow& by, Cpu& h) {
  while (!h.alarms.empty() && h.alarms.begin()->first <= h.thread->hart.clock) {
    const uint32_t whose = h.alarms.begin()->second;
    h.alarms.erase(h.alarms.begin());
    if (whose == kOfProcess) {
      const Time next = alarm.every ? alarm.at + alarm.every : kNever;
      set_alarm({next, alarm.every, h.thread->id});
      co_await signal_process(by, h.thread->id, kAlarm);
      continue;
    }
    Task& t = *tasks_[whose - kFirstTid];
    t.timed_out = true;
    co_await wake(by, h.thread->id, t);
  }
  set_timer(h);
  co_return 0;
}

}  // namespace uncore
