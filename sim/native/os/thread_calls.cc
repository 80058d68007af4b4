// System calls that create and end threads.

#include "os/calls.hh"

#undef CLONE_VM  // the host's <sched.h> defines these
#undef CLONE_THREAD
#undef CLONE_SETTLS
#undef CLONE_PARENT_SETTID
#undef CLONE_CHILD_CLEARTID
#undef CLONE_CHILD_SETTID

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

// Marks a robust lock that the ending thread still holds as FUTEX_OWNER_DIED, and wakes a waiter.
Work abandon(Linux& os, Task& t, uint64_t lock) {
  if (lock % 4) co_return 0;
  const int64_t error = co_await os.memory.reach(t, lock, 4);
  if (error < 0) co_return 0;
  const uint64_t owner = co_await t.load(lock, 4);
  if ((owner & FUTEX_TID_MASK) != t.tid) co_return 0;
  co_await t.amo(Amo::cas, lock, 4, (owner & FUTEX_WAITERS) | FUTEX_OWNER_DIED, owner);
  if (owner & FUTEX_WAITERS) co_await os.futexes.wake(t, lock, 1);
  co_return 0;
}

Work abandon_all(Linux& os, Task& t) {
  if (!t.robust_list) co_return 0;
  RobustList list{};
  const int64_t error = co_await os.memory.read(t, t.robust_list, list);
  if (error < 0) co_return 0;
  uint64_t next = list.next;
  for (unsigned i = 0; next != t.robust_list && i < ROBUST_LIST_LIMIT; ++i) {
    const uint64_t entry = next;
    const int64_t fault = co_await os.memory.read(t, entry, next);
    if (fault < 0) co_return 0;
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
  os.born(t, child);
  co_await os.scheduler.start(t, child);
  co_return child.tid;
}

// Fails as in a kernel without clone3. C libraries then use clone.
Work clone3(Linux&, Task&) { co_return -ENOSYS; }

Work exit(Linux& os, Task& t) {
  co_await abandon_all(os, t);
  if (t.clear_tid) {
    const int64_t error = co_await os.memory.put(t, t.clear_tid, 0, 4);
    if (error == 0) co_await os.futexes.wake(t, t.clear_tid, 1);
  }
  if (os.tasks.alive() == 1) co_return co_await exit_group(os, t);
  co_await os.signals.block(t, ~uint64_t{0});
  os.tasks.release(t);
  os.died(t);
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
  t.robust_list = t.args[0];
  co_return 0;
}

// Returns the robust list of the thread with the given id, or of the caller if that is 0.
Work get_robust_list(Linux& os, Task& t) {
  const Task* const target = t.args[0] == 0 ? &t : os.tasks.find(static_cast<uint32_t>(t.args[0]));
  if (!target) co_return -ESRCH;
  const uint64_t head = target->robust_list;
  const int64_t error = co_await os.memory.put(t, t.args[1], head, 8);
  if (error < 0) co_return error;
  co_return co_await os.memory.put(t, t.args[2], sizeof(RobustList), 8);
}

Work gettid(Linux&, Task& t) { co_return t.tid; }
Work getpid(Linux& os, Task&) { co_return os.tasks.pid(); }

// Fails as in a kernel that is built without restartable sequences.
Work rseq(Linux&, Task&) { co_return -ENOSYS; }

}  // namespace uncore::calls
