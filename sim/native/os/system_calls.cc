// System calls that return information about the system, its limits and its users, or random bytes.
#include <algorithm>
#include <array>
#include <cstring>

#include "os/calls.hh"
#include "os/device_files.hh"
#include "os/proc_files.hh"

namespace uncore::calls {
namespace {

constexpr std::size_t kNameBytes = 65;  // size of each name of uname

}  // namespace

Work uname(Linux& os, Task& t) {
  constexpr const char* kNames[] = {"Linux", "uncore", "6.6.0", "#1", "riscv64", "(none)"};
  std::array<uint8_t, kNameBytes * std::size(kNames)> names{};
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    std::memcpy(&names[i * kNameBytes], kNames[i], std::strlen(kNames[i]));
  co_return co_await os.memory.copy_out(t, names, t.args[0]);
}

Work sysinfo(Linux& os, Task& t) {
  struct {
    uint64_t uptime, loads[3], total, free, shared, buffers, swap, free_swap;
    uint16_t processes, pad[3];
    uint64_t high, free_high;
    uint32_t unit, pad2;
  } about{};
  static_assert(sizeof about == 112);
  about.uptime = kUptime + t.now() / 1'000'000'000'000;
  about.total = os.context.room, about.free = os.context.room - os.memory.space.touched_bytes();
  about.processes = 1, about.unit = 1;
  co_return co_await os.memory.write(t, about, t.args[0]);
}

// Reports all CPU time as user time.
Work getrusage(Linux& os, Task& t) {
  constexpr uint64_t kThread = 1;  // RUSAGE_THREAD
  const Time time = t.args[0] == kThread ? t.cpu_time(t.now()) : os.tasks.cpu_time(t.now());
  std::array<uint64_t, 18> usage{};
  usage[0] = time / 1'000'000'000'000, usage[1] = time / 1'000'000 % 1'000'000;
  co_return co_await os.memory.write(t, usage, t.args[1]);
}

Work prlimit64(Linux& os, Task& t) {
  const auto resource = static_cast<uint32_t>(t.args[1]), whose = static_cast<uint32_t>(t.args[0]);
  Limits::Limit limit;
  int64_t error = 0;
  if (t.args[2]) error = co_await os.memory.read(t, t.args[2], limit);
  if (error < 0) co_return error;
  if (whose != 0 && !os.tasks.find(whose)) co_return -ESRCH;
  if (resource >= RLIM_NLIMITS) co_return -EINVAL;
  const Limits::Limit former = os.limits.get(resource);
  if (t.args[2]) error = os.limits.set(resource, limit);
  if (error < 0) co_return error;
  if (!t.args[3]) co_return 0;
  co_return co_await os.memory.write(t, former, t.args[3]);
}

namespace {
// Writes the real, effective and saved id of the user or group, which are equal.
Work put_ids(Linux& os, Task& t) {
  for (const unsigned i : {0u, 1u, 2u}) {
    const int64_t error = co_await os.memory.put(t, t.args[i], Linux::kUser, 4);
    if (error < 0) co_return error;
  }
  co_return 0;
}
}  // namespace
Work getresuid(Linux& os, Task& t) { co_return co_await put_ids(os, t); }
Work getresgid(Linux& os, Task& t) { co_return co_await put_ids(os, t); }
Work getgroups(Linux&, Task&) { co_return 0; }
Work getpgid(Linux& os, Task&) { co_return os.tasks.pid(); }
Work getsid(Linux& os, Task&) { co_return os.tasks.pid(); }

// Ends the run with an error, because only one program is simulated.
Work execve(Linux&, Task& t) {
  co_await t.give_up("it starts another program (execve), and there is one only, at " +
                     describe(t));
  co_return 0;
}

// Returns at most 256 random bytes, which are determined by the seed and by how many bytes the run
// has drawn before (K12).
Work getrandom(Linux& os, Task& t) {
  constexpr uint32_t kBlocking = 2, kInsecure = 4,
                     kKnownFlags = 1 | kBlocking | kInsecure;  // GRND_
  const auto flags = static_cast<uint32_t>(t.args[2]);
  if ((flags & ~kKnownFlags) || (flags & kBlocking && flags & kInsecure)) co_return -EINVAL;
  if (!UserMemory::is_range(t.args[0], std::min<uint64_t>(t.args[1], INT32_MAX))) co_return -EFAULT;
  const uint64_t max_bytes = std::min<uint64_t>(t.args[1], 256);
  const uint64_t room = os.memory.usable(t.args[0], max_bytes, UserMemory::Use::write);
  if (room == 0 && max_bytes > 0) co_return -EFAULT;
  const std::vector<uint8_t> bytes = random_bytes(os, room);
  const int64_t error = co_await os.memory.copy_out(t, bytes, t.args[0]);
  co_return error < 0 ? error : static_cast<int64_t>(bytes.size());
}

Work prctl(Linux& os, Task& t) {
  constexpr uint32_t kSetName = 15, kGetName = 16;  // PR_SET_NAME, PR_GET_NAME
  constexpr std::size_t kMaxNameBytes = 15;         // TASK_COMM_LEN, without the zero
  const auto what = static_cast<uint32_t>(t.args[0]);
  if (what == kGetName) {
    std::string name = t.name ? *t.name : proc::comm(os, t);
    if (!t.name) name.pop_back();  // the end of the line
    name.resize(kMaxNameBytes + 1);
    const auto* const bytes = reinterpret_cast<const uint8_t*>(name.data());
    co_return co_await os.memory.copy_out(t, {bytes, name.size()}, t.args[1]);
  }
  if (what != kSetName) co_return -EINVAL;
  std::string name;
  for (uint8_t next = 1; name.size() < kMaxNameBytes; name += static_cast<char>(next)) {
    const int64_t error = co_await os.memory.copy_in(t, t.args[1] + name.size(), {&next, 1});
    if (error < 0) co_return error;
    if (!next) break;
  }
  t.name = name;
  co_return 0;
}

Work getppid(Linux&, Task&) { co_return 1; }
Work getuid(Linux&, Task&) { co_return Linux::kUser; }
Work geteuid(Linux&, Task&) { co_return Linux::kUser; }
Work getgid(Linux&, Task&) { co_return Linux::kUser; }
Work getegid(Linux&, Task&) { co_return Linux::kUser; }

}  // namespace uncore::calls
