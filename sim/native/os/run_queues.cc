#include "os/run_queues.hh"

#include <algorithm>
#include <tuple>

namespace uncore {
namespace {

uint32_t distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

}  // namespace

void RunQueues::Queue::insert(Task& task, Place place) {
  const uint32_t last = place == Place::before ? task.priority + 1 : task.priority;
  tasks.insert(
      std::ranges::partition_point(tasks, [&](const Task* t) { return t->priority >= last; }),
      &task);
}

std::size_t RunQueues::Queue::count_from(uint32_t priority) const {
  const auto counts = [&](const Task* t) { return t->priority >= priority; };
  const auto last = std::ranges::partition_point(tasks, counts);
  return static_cast<std::size_t>(last - tasks.begin()) + (runs() && counts(runs()));
}

// Returns the best hart for a task (K5). Harts without more urgent tasks are preferred; then those
// with the fewest tasks that are at least as urgent; then those with the fewest tasks; then the
// nearest to the hart where the task ran last; then the lowest.
uint32_t RunQueues::select_hart(const Task& task) const {
  const auto rank = [&](uint32_t h) {
    const Queue& q = queues_[h];
    return std::tuple(q.count_from(task.priority + 1) > 0, q.count_from(task.priority) + q.arriving,
                      q.load(), distance(h, task.hart));
  };
  uint32_t best = ~0u;
  for (uint32_t h = 0; h < queues_.size(); ++h)
    if (task.allowed[h] && (best == ~0u || rank(h) < rank(best))) best = h;
  return best;
}

uint32_t RunQueues::assign(const Task& task) {
  const uint32_t hart = select_hart(task);
  expect(hart);
  return hart;
}

// Returns the most urgent task on any queue, if it may run on this hart and is more urgent than the
// tasks on the hart's own queue (K7.1). Otherwise, if the hart's queue is empty (K6), returns the
// last task that may run here from the longest queue with such a task; of equally long queues, from
// the one of the lowest hart.
Task* RunQueues::steal_for(uint32_t hart) const {
  const auto may_run = [&](const Task* task) { return task->allowed[hart]; };
  Task* urgent = nullptr;
  uint32_t above = empty(hart) ? 0 : queues_[hart].tasks.front()->priority;
  for (const Queue& q : queues_)
    for (Task* const task : q.tasks)
      if (task->priority > above && may_run(task))
        urgent = task, above = task->priority;
      else if (task->priority <= above)
        break;
  if (urgent || !empty(hart)) return urgent;
  const Queue* longest = nullptr;
  for (const Queue& q : queues_)
    if ((!longest || q.tasks.size() > longest->tasks.size()) &&
        std::ranges::any_of(q.tasks, may_run))
      longest = &q;
  return longest ? *std::ranges::find_if(longest->tasks.rbegin(), longest->tasks.rend(), may_run)
                 : nullptr;
}

std::optional<uint32_t> RunQueues::idle_hart_for(const Task& task) const {
  std::optional<uint32_t> best;
  for (uint32_t h = 0; h < queues_.size(); ++h)
    if (task.allowed[h] && queues_[h].is_idle() &&
        (!best || distance(h, task.hart) < distance(*best, task.hart)))
      best = h;
  return best;
}

const Task* RunQueues::waits_in_vain() const {
  for (const Queue& q : queues_)
    for (std::size_t i = q.first_waiting(); i < q.tasks.size(); ++i)
      if (idle_hart_for(*q.tasks[i])) return q.tasks[i];
  return nullptr;
}

// Moves tasks that wait for their turn from this hart's queue to idle harts that may run them
// (K6.1). Returns these harts.
std::vector<uint32_t> RunQueues::move_to_idle(uint32_t hart) {
  std::vector<uint32_t> harts;
  std::deque<Task*>& tasks = queues_[hart].tasks;
  for (std::size_t i = queues_[hart].first_waiting(); i < tasks.size();) {
    const std::optional<uint32_t> to = idle_hart_for(*tasks[i]);
    if (!to) {
      ++i;
      continue;
    }
    tasks[i]->hart = *to;
    queues_[*to].tasks.push_back(tasks[i]);
    tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(i));
    harts.push_back(*to);
  }
  return harts;
}

Work RunQueues::spread(Flow& by, uint32_t from, uint32_t hart) {
  for (const uint32_t to : move_to_idle(hart))
    if (to != from) co_await by.interrupt(to);
  co_return 0;
}

Work RunQueues::add(Flow& by, uint32_t from, uint32_t hart, Task& task, Place place) {
  Queue& q = queues_[hart];
  co_await locks_.lock(by, line(hart));
  task.state = Task::State::ready;
  task.hart = hart;
  q.insert(task, place);
  --q.arriving;
  const std::vector<uint32_t> idle_harts = move_to_idle(hart);
  co_await locks_.unlock(by, line(hart));
  for (const uint32_t to : idle_harts)
    if (to != from) co_await by.interrupt(to);
  const Task* const runs = q.runs();
  const bool looks = hart == from || task.hart != hart;
  if (!looks && (!runs || runs->priority < task.priority)) co_await by.interrupt(hart);
  co_return 0;
}

Work RunQueues::requeue(Flow& by, uint32_t from, Task& task, uint32_t policy, uint32_t priority) {
  const uint32_t hart = task.hart;
  co_await locks_.lock(by, line(hart));
  const bool queued = std::erase(queues_[hart].tasks, &task);
  task.policy = policy, task.priority = priority;
  const uint32_t to = queued ? assign(task) : hart;
  co_await locks_.unlock(by, line(hart));
  if (queued) co_await add(by, from, to, task);
  co_return queued;
}

Task* RunQueues::choose(uint32_t hart) {
  Queue& q = queues_[hart];
  Task* task = steal_for(hart);
  if (!task && !q.tasks.empty()) task = q.tasks.front();
  if (task) std::erase(queues_[task->hart].tasks, task);
  return q.chosen = task;
}

Work RunQueues::take(Flow& by, uint32_t hart) {
  const uint32_t queue = queues_[hart].chosen->hart;
  co_await locks_.lock(by, line(queue));
  co_return co_await locks_.unlock(by, line(queue));
}

}  // namespace uncore
