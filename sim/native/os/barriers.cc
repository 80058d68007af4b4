#include "os/barriers.hh"

#include <utility>

#include "os/calls.hh"

namespace uncore {

uint64_t Barriers::line_of(uint32_t hart) const {
  return kernel_lines::fences(hart, context_.machine.line);
}

// While the task waits for the other harts, it also serves fences that other tasks request of its
// own hart; otherwise two tasks that fence at the same time would wait for each other.
Work Barriers::fence_all(Task& by) {
  co_await by.fence();
  for (uint32_t hart = 0; hart < waiting_.size(); ++hart) {
    if (!scheduler_.current(hart) || scheduler_.current(hart) == &by) continue;
    ++by.fences;
    waiting_[hart].push_back(&by);
    co_await by.interrupt(hart);
  }
  while (by.fences > 0) {
    co_await by.spend(SpinLocks::kPollInterval);
    const uint32_t own_hart = by.hart;
    const uint64_t line = line_of(own_hart);
    if (!locks_.cost_nothing) co_await by.load(line, 4);
    if (!waiting_[own_hart].empty()) co_await interrupted(by, own_hart);
  }
  co_return 0;
}

Work Barriers::interrupted(Flow& by, uint32_t hart) {
  context_.harts[hart]->write_register({Register::Kind::msip, hart}, 0);
  if (waiting_[hart].empty()) co_return 0;
  co_await by.fence();
  for (Task* const task : std::exchange(waiting_[hart], {})) {
    --task->fences;
    const uint64_t line = line_of(task->hart);
    if (!locks_.cost_nothing) co_await by.store(line, 4, 0);
  }
  co_return 0;
}

Work calls::membarrier(Linux& os, Task& t) {
  enum : uint64_t {
    MEMBARRIER_CMD_QUERY = 0,
    MEMBARRIER_CMD_GLOBAL = 1,
    MEMBARRIER_CMD_GLOBAL_EXPEDITED = 2,
    MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED = 4,
    MEMBARRIER_CMD_PRIVATE_EXPEDITED = 8,
    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED = 16
  };
  if (static_cast<uint32_t>(t.args[1]) != 0) co_return -EINVAL;
  switch (static_cast<uint32_t>(t.args[0])) {
    case MEMBARRIER_CMD_QUERY:
      co_return MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED |
          MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED |
          MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
    case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
      os.barriers.registered = true;
      co_return 0;
    case MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED:
      co_return 0;
    case MEMBARRIER_CMD_PRIVATE_EXPEDITED:
      if (!os.barriers.registered) co_return -EPERM;
      [[fallthrough]];
    case MEMBARRIER_CMD_GLOBAL:
    case MEMBARRIER_CMD_GLOBAL_EXPEDITED:
      co_return co_await os.barriers.fence_all(t);
    default:
      co_return -EINVAL;
  }
}

}  // namespace uncore
