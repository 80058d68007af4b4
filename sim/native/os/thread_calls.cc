// Calls about threads and the harts that they run on.
#include <algorithm>
#include <vector>

#include "core/thread_port.hh"
#include "os/calls.hh"
#include "os/errors.hh"

namespace uncore::calls {
namespace {

constexpr uint64_t kSharesMemory = 0x100, kThread = 0x10000, kSetTls = 0x80000,
                   kTellParent = 0x100000, kClearChild = 0x200000, kTellChild = 0x1000000;
constexpr std::size_t kMostThreads = 32768;  // as /proc/sys/kernel/pid_max by default
constexpr uint32_t kOwnerDied = 0x40000000, kWaiters = 0x80000000, kTidMask = 0x3fffffff;
constexpr unsigned kMostRobust = 2048;  // locks that one thread leaves, ROBUST_LIST_LIMIT
constexpr unsigned kThreadPointer = 4;

Work word(Kernel& k, Task& t, uint64_t at, uint64_t& value) {
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&value), sizeof value);
  co_return co_await k.copy_in(t, at, bytes);
}

// A lock that a thread has not released when it ends.
Work abandon(Kernel& k, Task& t, uint64_t lock) {
  const int64_t failed = lock % 4 ? kFault : co_await k.reach(t, lock, 4);
  if (failed < 0) co_return 0;
  const uint64_t held = co_await t.load(lock, 4);
  if ((held & kTidMask) != t.tid) co_return 0;
  co_await t.amo(Amo::cas, lock, 4, (held & kWaiters) | kOwnerDied, held);
  if (held & kWaiters) co_await k.wake_futex(t, lock, 1);
  co_return 0;
}

Work abandon_all(Kernel& k, Task& t) {
  uint64_t next = 0, offset = 0, under_way = 0;
  if (!t.robust || co_await word(k, t, t.robust, next) < 0) co_return 0;
  if (co_await word(k, t, t.robust + 8, offset) < 0) co_return 0;
  if (co_await word(k, t, t.robust + 16, under_way) < 0) co_return 0;
  for (unsigned i = 0; next != t.robust && i < kMostRobust; ++i) {
    const uint64_t lock = next + offset;
    const uint64_t entry = next;
    if (co_await word(k, t, entry, next) < 0) co_return 0;
    if (entry != under_way) co_await abandon(k, t, lock);
  }
  if (under_way) co_await abandon(k, t, under_way + offset);
  co_return 0;
}

}  // namespace

Work clone(Kernel& k, Task& t) {
  const uint64_t flags = t.a[0];
  if (!(flags & kSharesMemory) || !(flags & kThread)) {
    k.give_up(k.on(t),
              "it starts another process (clone without CLONE_VM and CLONE_THREAD), and"
              " there is one only");
    co_await t.leave();
  }
  if (k.tasks().size() >= kMostThreads) co_return kAgain;
  Task& child = k.spawn(t);
  child.registers = k.registers_of(t);
  child.registers.pc += Kernel::kEcallBytes;
  child.registers.x[10] = 0;
  if (t.a[1]) child.registers.x[2] = t.a[1];
  if (flags & kSetTls) child.registers.x[kThreadPointer] = t.a[3];
  if (flags & kClearChild) child.clear_tid = t.a[4];
  if (flags & kTellParent) co_await k.put(t, t.a[2], child.tid, 4);
  if (flags & kTellChild) co_await k.put(t, t.a[4], child.tid, 4);
  co_await k.start(t, child);
  co_return child.tid;
}

// As a kernel that does not know it; C libraries use clone then.
Work clone3(Kernel&, Task&) { co_return kNoCall; }

Work exit(Kernel& k, Task& t) {
  co_await abandon_all(k, t);
  if (t.clear_tid) {
    const int64_t failed = co_await k.put(t, t.clear_tid, 0, 4);
    if (failed == 0) co_await k.wake_futex(t, t.clear_tid, 1);
  }
  const auto alive = [&](const auto& other) {
    return other.get() != &t && other->state != Task::State::dead;
  };
  if (std::ranges::any_of(k.tasks(), alive)) co_return co_await k.retire(t);
  k.end(t, static_cast<int>(t.a[0] & 255));
  co_await t.leave();
  co_return 0;
}

Work exit_group(Kernel& k, Task& t) {
  k.end(t, static_cast<int>(t.a[0] & 255));
  co_await t.leave();
  co_return 0;
}

Work set_tid_address(Kernel&, Task& t) {
  t.clear_tid = t.a[0];
  co_return t.tid;
}

Work set_robust_list(Kernel&, Task& t) {
  constexpr uint64_t kHead = 24;
  if (t.a[1] != kHead) co_return kInvalid;
  t.robust = t.a[0];
  co_return 0;
}

Work gettid(Kernel&, Task& t) { co_return t.tid; }
Work getpid(Kernel& k, Task&) { co_return k.tasks().front()->tid; }

// ---- where they run

Work sched_yield(Kernel& k, Task& t) {
  co_await k.yield(t);
  co_return 0;
}

Work getcpu(Kernel& k, Task& t) {
  int64_t failed = 0;
  const uint32_t hart = t.hart;
  if (t.a[0]) failed = co_await k.put(t, t.a[0], hart, 4);
  if (t.a[1] && failed == 0) failed = co_await k.put(t, t.a[1], k.process.nodes[hart], 4);
  co_return failed;
}

Work sched_getaffinity(Kernel& k, Task& t) {
  const Task* const whose = t.a[0] ? k.find(t.a[0]) : &t;
  if (!whose) co_return kNoProcess;
  std::vector<uint8_t> set((k.harts() + 63) / 64 * 8);
  if (t.a[1] < set.size() || t.a[1] % 8) co_return kInvalid;
  for (std::size_t h = 0; h < k.harts(); ++h)
    set[h / 8] = static_cast<uint8_t>(set[h / 8] | whose->allowed[h] << h % 8);
  const int64_t failed = co_await k.copy_out(t, set, t.a[2]);
  co_return failed < 0 ? failed : static_cast<int64_t>(set.size());
}

Work sched_setaffinity(Kernel& k, Task& t) {
  Task* const whose = t.a[0] ? k.find(t.a[0]) : &t;
  if (!whose) co_return kNoProcess;
  std::vector<uint8_t> set(std::min<uint64_t>(t.a[1], (k.harts() + 7) / 8));
  const int64_t failed = co_await k.copy_in(t, t.a[2], set);
  if (failed < 0) co_return failed;
  std::vector<bool> allowed(k.harts());
  for (std::size_t h = 0; h < k.harts(); ++h)
    allowed[h] = h / 8 < set.size() && set[h / 8] >> h % 8 & 1;
  if (std::ranges::none_of(allowed, [](bool one) { return one; })) co_return kInvalid;
  whose->allowed = allowed;
  co_return co_await k.move(t, *whose);
}

// All run by turns, at one priority.
Work sched_setscheduler(Kernel&, Task& t) { co_return t.a[1] == 0 ? 0 : kNotPermitted; }
Work sched_getscheduler(Kernel&, Task&) { co_return 0; }
Work sched_getparam(Kernel& k, Task& t) { co_return co_await k.put(t, t.a[1], 0, 4); }
Work sched_get_priority_max(Kernel&, Task& t) { co_return t.a[0] == 1 || t.a[0] == 2 ? 99 : 0; }
Work sched_get_priority_min(Kernel&, Task& t) { co_return t.a[0] == 1 || t.a[0] == 2 ? 1 : 0; }

// ---- barriers

// Every hart that runs the program has fenced when it ends.
Work membarrier(Kernel& k, Task& t) {
  enum : uint64_t {
    kQuery = 0,
    kGlobal = 1,
    kGlobalExpedited = 2,
    kRegisterGlobal = 4,
    kPrivate = 8,
    kRegister = 16
  };
  switch (t.a[0]) {
    case kQuery:
      co_return kGlobal | kGlobalExpedited | kRegisterGlobal | kPrivate | kRegister;
    case kRegister:
    case kRegisterGlobal:
      co_return 0;
    case kGlobal:
    case kGlobalExpedited:
    case kPrivate:
      co_return co_await k.fence_all(t);
    default:
      co_return kInvalid;
  }
}

// As a kernel that was built without it.
Work rseq(Kernel&, Task&) { co_return kNoCall; }

}  // namespace uncore::calls
