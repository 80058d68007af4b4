// System calls on the affinity, policy and priority of threads (K7.1). Nice values are stored and
// reported, but have no effect.
#include <algorithm>
#include <vector>

#include "os/calls.hh"

#undef SCHED_OTHER  // the host's <sched.h> defines these
#undef SCHED_FIFO
#undef SCHED_RR
#undef SCHED_BATCH
#undef SCHED_IDLE
#undef SCHED_RESET_ON_FORK

namespace uncore::calls {
namespace {

enum : uint64_t { SCHED_OTHER = 0, SCHED_FIFO = 1, SCHED_RR = 2, SCHED_BATCH = 3, SCHED_IDLE = 5 };
constexpr uint64_t SCHED_RESET_ON_FORK = 0x40000000, PRIO_PROCESS = 0;
constexpr uint32_t kMostPriority = 99;
constexpr int32_t kNicest = 19, kLeastNice = -20;

constexpr bool is_known(uint64_t policy) { return policy <= SCHED_BATCH || policy == SCHED_IDLE; }
// True for each policy that Linux defines, including SCHED_DEADLINE and SCHED_EXT, which no task
// can have here.
constexpr bool is_listed(uint64_t policy) {
  constexpr uint32_t kLastPolicy = 7;
  const auto number = static_cast<uint32_t>(policy);
  return is_known(number) || (number > SCHED_IDLE && number <= kLastPolicy);
}
constexpr bool has_priorities(uint64_t policy) {
  return policy == SCHED_FIFO || policy == SCHED_RR;
}

// Returns the task that a call names; 0 is the caller.
Task* named_task(Linux& os, Task& t, uint64_t tid) {
  const auto number = static_cast<uint32_t>(tid);
  return number ? os.tasks.find(number) : &t;
}
bool is_negative(uint64_t tid) { return static_cast<int32_t>(tid) < 0; }

Work set_policy(Linux& os, Task& t, uint64_t policy_and_flag, uint64_t from) {
  Task* const whose = named_task(os, t, t.args[0]);
  const uint64_t policy = policy_and_flag & ~SCHED_RESET_ON_FORK;
  uint32_t priority = 0;
  if (!from || is_negative(t.args[0])) co_return -EINVAL;
  const int64_t error = co_await os.memory.read(t, from, priority);
  if (error < 0) co_return error;
  if (!whose) co_return -ESRCH;
  if (!is_known(policy)) co_return -EINVAL;
  const bool fits = has_priorities(policy) ? priority - 1 < kMostPriority : priority == 0;
  if (!fits) co_return -EINVAL;
  const uint64_t most = os.limits.get(RLIMIT_RTPRIO).soft;
  const bool is_forbidden = policy != whose->policy && most == 0;
  if (has_priorities(policy) && (is_forbidden || (priority > whose->priority && priority > most)))
    co_return -EPERM;
  whose->resets_on_fork = policy_and_flag & SCHED_RESET_ON_FORK;
  co_return co_await os.scheduler.change(t, *whose, static_cast<uint32_t>(policy), priority);
}
int64_t policy_of(const Task& t) {
  return static_cast<int64_t>(t.policy | (t.resets_on_fork ? SCHED_RESET_ON_FORK : 0));
}

}  // namespace

Work sched_yield(Linux& os, Task& t) {
  co_await os.scheduler.yield(t);
  co_return 0;
}

Work getcpu(Linux& os, Task& t) {
  int64_t error = 0;
  const uint32_t hart = t.hart;
  if (t.args[0]) error = co_await os.memory.put(t, t.args[0], hart, 4);
  if (t.args[1] && error == 0)
    error = co_await os.memory.put(t, t.args[1], os.context.process().nodes[hart], 4);
  co_return error;
}

Work sched_getaffinity(Linux& os, Task& t) {
  const Task* const whose = named_task(os, t, t.args[0]);
  const std::size_t harts = os.context.harts.size();
  const auto size = static_cast<uint32_t>(t.args[1]);
  std::vector<uint8_t> set((harts + 63) / 64 * 8);
  if (size < set.size() || size % 8) co_return -EINVAL;
  if (!whose) co_return -ESRCH;
  for (std::size_t h = 0; h < harts; ++h)
    set[h / 8] = static_cast<uint8_t>(set[h / 8] | whose->allowed[h] << h % 8);
  const int64_t error = co_await os.memory.copy_out(t, set, t.args[2]);
  co_return error < 0 ? error : static_cast<int64_t>(set.size());
}

Work sched_setaffinity(Linux& os, Task& t) {
  Task* const whose = named_task(os, t, t.args[0]);
  const std::size_t harts = os.context.harts.size();
  std::vector<uint8_t> set(std::min<uint64_t>(static_cast<uint32_t>(t.args[1]), (harts + 7) / 8));
  const int64_t error = co_await os.memory.copy_in(t, t.args[2], set);
  if (error < 0) co_return error;
  if (!whose) co_return -ESRCH;
  std::vector<bool> allowed(harts);
  for (std::size_t h = 0; h < harts; ++h)
    allowed[h] = h / 8 < set.size() && set[h / 8] >> h % 8 & 1;
  if (std::ranges::none_of(allowed, [](bool may) { return may; })) co_return -EINVAL;
  whose->allowed = allowed;
  co_return co_await os.scheduler.move(t, *whose);
}

Work sched_setscheduler(Linux& os, Task& t) {
  if (is_negative(t.args[1])) co_return -EINVAL;
  co_return co_await set_policy(os, t, static_cast<uint32_t>(t.args[1]), t.args[2]);
}

Work sched_setparam(Linux& os, Task& t) {
  const Task* const whose = named_task(os, t, t.args[0]);
  const uint64_t policy = whose ? static_cast<uint64_t>(policy_of(*whose)) : SCHED_OTHER;
  co_return co_await set_policy(os, t, policy, t.args[1]);
}

Work sched_getscheduler(Linux& os, Task& t) {
  const Task* const whose = named_task(os, t, t.args[0]);
  if (is_negative(t.args[0])) co_return -EINVAL;
  co_return whose ? policy_of(*whose) : -ESRCH;
}

Work sched_getparam(Linux& os, Task& t) {
  const Task* const whose = named_task(os, t, t.args[0]);
  if (!t.args[1] || is_negative(t.args[0])) co_return -EINVAL;
  if (!whose) co_return -ESRCH;
  co_return co_await os.memory.put(t, t.args[1], whose->priority, 4);
}

// Returns the length of a time slice (the job's os.quantum), or 0 for SCHED_FIFO, which has no
// slices.
Work sched_rr_get_interval(Linux& os, Task& t) {
  constexpr uint64_t kNsPerSecond = 1'000'000'000;
  const Task* const whose = named_task(os, t, t.args[0]);
  if (is_negative(t.args[0])) co_return -EINVAL;
  if (!whose) co_return -ESRCH;
  const uint64_t ns = whose->policy == Task::kFifo ? 0 : os.context.process().costs.quantum / 1000;
  const uint64_t time[2] = {ns / kNsPerSecond, ns % kNsPerSecond};
  co_return co_await os.memory.write(t, time, t.args[1]);
}

Work sched_get_priority_max(Linux&, Task& t) {
  if (!is_listed(t.args[0])) co_return -EINVAL;
  co_return has_priorities(static_cast<uint32_t>(t.args[0])) ? kMostPriority : 0;
}
Work sched_get_priority_min(Linux&, Task& t) {
  if (!is_listed(t.args[0])) co_return -EINVAL;
  co_return has_priorities(static_cast<uint32_t>(t.args[0])) ? 1 : 0;
}

// Returns 20 minus the nice value, as Linux's system call does.
Work getpriority(Linux& os, Task& t) {
  if (static_cast<uint32_t>(t.args[0]) != PRIO_PROCESS) co_return -EINVAL;
  const Task* const whose = named_task(os, t, t.args[1]);
  co_return whose ? kNicest + 1 - whose->nice : -ESRCH;
}

Work setpriority(Linux& os, Task& t) {
  if (static_cast<uint32_t>(t.args[0]) != PRIO_PROCESS) co_return -EINVAL;
  Task* const whose = named_task(os, t, t.args[1]);
  if (!whose) co_return -ESRCH;
  whose->nice = std::clamp(static_cast<int32_t>(t.args[2]), kLeastNice, kNicest);
  co_return 0;
}

}  // namespace uncore::calls
