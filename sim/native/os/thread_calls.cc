// Calls about threads and the harts that they run on.
#include <algorithm>
#include <vector>

#include "os/calls.hh"

#undef CLONE_VM  // of the host's <sched.h>
#undef CLONE_THREAD
#undef CLONE_SETTLS
#undef CLONE_PARENT_SETTID
#undef CLONE_CHILD_CLEARTID
#undef CLONE_CHILD_SETTID
#undef SCHED_OTHER
#undef SCHED_FIFO
#undef SCHED_RR

namespace uncore::calls {
namespace {

enum : uint64_t {
  CLONE_VM = 0x100,
  CLONE_THREAD = 0x10000,
  CLONE_SETTLS = 0x80000,
  CLONE_PARENT_SETTID = 0x100000,
  CLONE_CHILD_CLEARTID = 0x200000,
  CLONE_CHILD_SETTID = 0x1000000,
};
enum : uint32_t {
  FUTEX_TID_MASK = 0x3fffffff,
  FUTEX_OWNER_DIED = 0x40000000,
  FUTEX_WAITERS = 0x80000000,
};
constexpr unsigned ROBUST_LIST_LIMIT = 2048;

struct RobustList {  // struct robust_list_head
  uint64_t next, offset, pending;
};

// Marks a robust lock that the thread has not released as it ends, and wakes a waiter.
Work abandon(Linux& os, Task& t, uint64_t lock) {
  if (lock % 4) co_return 0;
  const int64_t failed = co_await os.memory.reach(t, lock, 4);
  if (failed < 0) co_return 0;
  const uint64_t owner = co_await t.load(lock, 4);
  if ((owner & FUTEX_TID_MASK) != t.tid) co_return 0;
  co_await t.amo(Amo::cas, lock, 4, (owner & FUTEX_WAITERS) | FUTEX_OWNER_DIED, owner);
  if (owner & FUTEX_WAITERS) co_await os.futexes.wake(t, lock, 1);
  co_return 0;
}

Work abandon_all(Linux& os, Task& t) {
  if (!t.robust) co_return 0;
  RobustList list{};
  const int64_t failed = co_await os.memory.read(t, t.robust, list);
  if (failed < 0) co_return 0;
  uint64_t next = list.next;
  for (unsigned i = 0; next != t.robust && i < ROBUST_LIST_LIMIT; ++i) {
    const uint64_t entry = next;
    const int64_t unread = co_await os.memory.read(t, entry, next);
    if (unread < 0) co_return 0;
    if (entry != list.pending) co_await abandon(os, t, entry + list.offset);
  }
  if (list.pending) co_await abandon(os, t, list.pending + list.offset);
  co_return 0;
}

}  // namespace

Work clone(Linux& os, Task& t) {
  const uint64_t flags = t.args[0];
  if (!(flags & CLONE_VM) || !(flags & CLONE_THREAD))
    co_await t.give_up(
        "it starts another process (clone without CLONE_VM and CLONE_THREAD), and"
        " there is one only");
  if (os.tasks.full()) co_return -EAGAIN;
  Task& child = os.tasks.spawn(t);
  child.registers = t.read_registers();
  child.registers.pc += kEcallBytes;
  child.registers.x[10] = 0;
  if (t.args[1]) child.registers.x[kStackPointer] = t.args[1];
  if (flags & CLONE_SETTLS) child.registers.x[kThreadPointer] = t.args[3];
  if (flags & CLONE_CHILD_CLEARTID) child.clear_tid = t.args[4];
  if (flags & CLONE_PARENT_SETTID) co_await os.memory.put(t, t.args[2], child.tid, 4);
  if (flags & CLONE_CHILD_SETTID) co_await os.memory.put(t, t.args[4], child.tid, 4);
  co_await os.scheduler.start(t, child);
  co_return child.tid;
}

// Refused as by a kernel that does not know it; C libraries use clone then.
Work clone3(Linux&, Task&) { co_return -ENOSYS; }

Work exit(Linux& os, Task& t) {
  co_await abandon_all(os, t);
  if (t.clear_tid) {
    const int64_t failed = co_await os.memory.put(t, t.clear_tid, 0, 4);
    if (failed == 0) co_await os.futexes.wake(t, t.clear_tid, 1);
  }
  if (os.tasks.alive() == 1) co_return co_await exit_group(os, t);
  co_await os.signals.block(t, ~uint64_t{0});
  os.tasks.release(t);
  co_return co_await os.scheduler.retire(t);
}

Work exit_group(Linux&, Task& t) {
  co_await t.exit(static_cast<int>(t.args[0] & 255));
  co_return 0;
}

Work set_tid_address(Linux&, Task& t) {
  t.clear_tid = t.args[0];
  co_return t.tid;
}

Work set_robust_list(Linux&, Task& t) {
  if (t.args[1] != sizeof(RobustList)) co_return -EINVAL;
  t.robust = t.args[0];
  co_return 0;
}

Work gettid(Linux&, Task& t) { co_return t.tid; }
Work getpid(Linux& os, Task&) { co_return os.tasks.pid(); }

// Refused as by a kernel that was built without it.
Work rseq(Linux&, Task&) { co_return -ENOSYS; }

// ---- the harts that threads run on

Work sched_yield(Linux& os, Task& t) {
  co_await os.scheduler.yield(t);
  co_return 0;
}

Work getcpu(Linux& os, Task& t) {
  int64_t failed = 0;
  const uint32_t hart = t.hart;
  if (t.args[0]) failed = co_await os.memory.put(t, t.args[0], hart, 4);
  if (t.args[1] && failed == 0)
    failed = co_await os.memory.put(t, t.args[1], os.around.process().nodes[hart], 4);
  co_return failed;
}

Work sched_getaffinity(Linux& os, Task& t) {
  const Task* const whose = t.args[0] ? os.tasks.find(t.args[0]) : &t;
  const std::size_t harts = os.around.harts.size();
  if (!whose) co_return -ESRCH;
  std::vector<uint8_t> set((harts + 63) / 64 * 8);
  if (t.args[1] < set.size() || t.args[1] % 8) co_return -EINVAL;
  for (std::size_t h = 0; h < harts; ++h)
    set[h / 8] = static_cast<uint8_t>(set[h / 8] | whose->allowed[h] << h % 8);
  const int64_t failed = co_await os.memory.copy_out(t, set, t.args[2]);
  co_return failed < 0 ? failed : static_cast<int64_t>(set.size());
}

Work sched_setaffinity(Linux& os, Task& t) {
  Task* const whose = t.args[0] ? os.tasks.find(t.args[0]) : &t;
  const std::size_t harts = os.around.harts.size();
  if (!whose) co_return -ESRCH;
  std::vector<uint8_t> set(std::min<uint64_t>(t.args[1], (harts + 7) / 8));
  const int64_t failed = co_await os.memory.copy_in(t, t.args[2], set);
  if (failed < 0) co_return failed;
  std::vector<bool> allowed(harts);
  for (std::size_t h = 0; h < harts; ++h)
    allowed[h] = h / 8 < set.size() && set[h / 8] >> h % 8 & 1;
  if (std::ranges::none_of(allowed, [](bool may) { return may; })) co_return -EINVAL;
  whose->allowed = allowed;
  co_return co_await os.scheduler.move(t, *whose);
}

// All threads run by turns, at one priority (SCHED_OTHER).
namespace {
enum : uint64_t { SCHED_OTHER = 0, SCHED_FIFO = 1, SCHED_RR = 2 };
constexpr bool has_priorities(uint64_t policy) {
  return policy == SCHED_FIFO || policy == SCHED_RR;
}
}  // namespace
Work sched_setscheduler(Linux&, Task& t) { co_return t.args[1] == SCHED_OTHER ? 0 : -EPERM; }
Work sched_getscheduler(Linux&, Task&) { co_return SCHED_OTHER; }
Work sched_getparam(Linux& os, Task& t) { co_return co_await os.memory.put(t, t.args[1], 0, 4); }
Work sched_get_priority_max(Linux&, Task& t) { co_return has_priorities(t.args[0]) ? 99 : 0; }
Work sched_get_priority_min(Linux&, Task& t) { co_return has_priorities(t.args[0]) ? 1 : 0; }

}  // namespace uncore::calls
