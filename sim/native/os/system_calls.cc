// Calls that ask what there is: the system, its limits, its users, chance.
#include <algorithm>
#include <array>
#include <cstring>

#include "time/chance.hh"
#include "os/calls.hh"
#include "os/errors.hh"

namespace uncore::calls {
namespace {

constexpr std::size_t kName = 65;  // bytes of each of uname's
constexpr uint64_t kUser = 1000;

}  // namespace

Work uname(Kernel& k, Task& t) {
  constexpr const char* kNames[] = {"Linux", "uncore", "6.6.0", "#1", "riscv64", "(none)"};
  std::array<uint8_t, kName * std::size(kNames)> names{};
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    std::memcpy(&names[i * kName], kNames[i], std::strlen(kNames[i]));
  co_return co_await k.copy_out(t, names, t.a[0]);
}

Work sysinfo(Kernel& k, Task& t) {
  struct {
    uint64_t uptime, loads[3], total, free, shared, buffers, swap, free_swap;
    uint16_t processes, pad[3];
    uint64_t high, free_high;
    uint32_t unit, pad2;
  } about{};
  static_assert(sizeof about == 112);
  about.uptime = k.now(t) / 1'000'000'000'000;
  about.total = k.parts.room, about.free = k.parts.room - k.space.touched();
  about.processes = 1, about.unit = 1;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&about);
  co_return co_await k.copy_out(t, {bytes, sizeof about}, t.a[0]);
}

Work getrusage(Kernel& k, Task& t) {
  std::array<uint64_t, 18> used{};
  used[0] = k.now(t) / 1'000'000'000'000, used[1] = k.now(t) / 1'000'000 % 1'000'000;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(used.data());
  co_return co_await k.copy_out(t, {bytes, sizeof used}, t.a[1]);
}

// Limits are told; new ones are taken note of by nobody.
Work prlimit64(Kernel& k, Task& t) {
  constexpr uint64_t kStack = 3, kOpen = 7, kMostOpen = 1024;
  if (t.a[1] > 15) co_return kInvalid;
  if (!t.a[3]) co_return 0;
  const uint64_t most = t.a[1] == kStack  ? k.process.stack_size
                        : t.a[1] == kOpen ? kMostOpen
                                          : ~uint64_t{0};
  const std::array<uint64_t, 2> limit = {most, most};
  const auto* const bytes = reinterpret_cast<const uint8_t*>(limit.data());
  co_return co_await k.copy_out(t, {bytes, sizeof limit}, t.a[3]);
}

// Follows from the seed and from how many bytes were given before (rule V8).
Work getrandom(Kernel& k, Task& t) {
  const Draws draws(Draws::random, k.parts.job.seed, 0, 255);
  std::vector<uint8_t> bytes(std::min<uint64_t>(t.a[1], 256));
  for (uint8_t& one : bytes) one = static_cast<uint8_t>(draws(k.drawn++));
  const int64_t failed = co_await k.copy_out(t, bytes, t.a[0]);
  co_return failed < 0 ? failed : static_cast<int64_t>(bytes.size());
}

Work prctl(Kernel&, Task& t) {
  constexpr uint64_t kSetName = 15;
  co_return t.a[0] == kSetName ? 0 : kInvalid;
}

// As a kernel that does not know it: programs use what every RV64GC processor has.
Work riscv_hwprobe(Kernel&, Task&) { co_return kNoCall; }

Work getppid(Kernel&, Task&) { co_return 1; }
Work getuid(Kernel&, Task&) { co_return kUser; }
Work geteuid(Kernel&, Task&) { co_return kUser; }
Work getgid(Kernel&, Task&) { co_return kUser; }
Work getegid(Kernel&, Task&) { co_return kUser; }

}  // namespace uncore::calls
