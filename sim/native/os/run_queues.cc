#include "os/run_queues.hh"

#include <algorithm>
#include <tuple>

namespace uncore {

using kernel_lines::queue;

void RunQueues::Queue::insert(Task& task, Place place) {
  const uint32_t last = place == Place::before ? task.priority + 1 : task.priority;
  tasks.insert(
      std::ranges::partition_point(tasks, [&](const Task* t) { return t->priority >= last; }),
      &task);
}

std::size_t RunQueues::Queue::from(uint32_t priority) const {
  const auto counts = [&](const Task* t) { return t->priority >= priority; };
  const auto last = std::ranges::partition_point(tasks, counts);
  return static_cast<std::size_t>(last - tasks.begin()) + (current && counts(current));
}

std::size_t RunQueues::load(uint32_t hart) const {
  const Queue& q = queues_[hart];
  return q.tasks.size() + q.coming + (q.current != nullptr);
}

// K5: the hart with the fewest tasks; of several the nearest to the one where the task ran last,
// then the lower. Harts that have more urgent ones come last, and only those as urgent count first.
uint32_t RunQueues::select_hart(const Task& task) const {
  const auto distance = [&](uint32_t h) { return h > task.hart ? h - task.hart : task.hart - h; };
  const auto rank = [&](uint32_t h) {
    const Queue& q = queues_[h];
    return std::tuple(q.from(task.priority + 1) > 0, q.from(task.priority) + q.coming, load(h),
                      distance(h));
  };
  uint32_t best = ~0u;
  for (uint32_t h = 0; h < queues_.size(); ++h)
    if (task.allowed[h] && (best == ~0u || rank(h) < rank(best))) best = h;
  return best;
}

// The most urgent one that waits anywhere (K7.1). Else, K6: the last task of the longest queue that
// may run on this hart; of several longest queues, the lowest hart's.
const Task* RunQueues::steal_for(uint32_t hart) const {
  const Task* urgent = nullptr;
  uint32_t above = empty(hart) ? 0 : queues_[hart].tasks.front()->priority;
  for (const Queue& q : queues_)
    for (const Task* const task : q.tasks)
      if (task->priority > above && task->allowed[hart])
        urgent = task, above = task->priority;
      else if (task->priority <= above)
        break;
  if (urgent || !empty(hart)) return urgent;
  const Queue* longest = nullptr;
  for (const Queue& q : queues_)
    if (!q.tasks.empty() && (!longest || q.tasks.size() > longest->tasks.size())) longest = &q;
  if (!longest) return nullptr;
  for (auto task = longest->tasks.rbegin(); task != longest->tasks.rend(); ++task)
    if ((*task)->allowed[hart]) return *task;
  return nullptr;
}

Work RunQueues::add(Flow& by, uint32_t hart, Task& task) {
  Queue& q = queues_[hart];
  ++q.coming;
  co_await locks_.lock(by, queue(hart));
  task.state = Task::State::ready;
  task.hart = hart;
  q.insert(task, Place::behind);
  --q.coming;
  co_return co_await locks_.unlock(by, queue(hart));
}

Work RunQueues::put_back(Task& task, Place place) {
  const uint32_t hart = task.hart;
  co_await locks_.lock(task, queue(hart));
  queues_[hart].insert(task, place);
  co_return co_await locks_.unlock(task, queue(hart));
}

Work RunQueues::take(Flow& by, uint32_t hart, const Task* which, Task*& taken) {
  co_await locks_.lock(by, queue(hart));
  std::deque<Task*>& tasks = queues_[hart].tasks;
  const auto at = which ? std::ranges::find(tasks, which) : tasks.begin();
  taken = at == tasks.end() ? nullptr : *at;
  if (taken) tasks.erase(at);
  co_return co_await locks_.unlock(by, queue(hart));
}

Work RunQueues::remove(Flow& by, Task& task) {
  const uint32_t hart = task.hart;
  co_await locks_.lock(by, queue(hart));
  const bool queued = std::erase(queues_[hart].tasks, &task);
  co_await locks_.unlock(by, queue(hart));
  co_return queued;
}

}  // namespace uncore
