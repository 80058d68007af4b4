// ppoll: waiting for files.
#include <list>

#include "os/calls.hh"

namespace uncore::calls {
namespace {

constexpr uint64_t kMostFiles = 1 << 16;

struct PollFd {  // struct pollfd
  int32_t descriptor;
  uint16_t events, revents;
};

uint16_t poll(const Linux& os, const PollFd& entry) {
  if (entry.descriptor < 0) return 0;
  const OpenFileRef file = os.files.at(static_cast<uint32_t>(entry.descriptor));
  return file ? entry.events & file->poll() : POLLNVAL;
}

// Says of each file what it is ready for; the value is how many are.
Work poll_all(Linux& os, Task& t, std::vector<PollFd>& entries) {
  int64_t ready = 0;
  for (uint64_t i = 0; i < entries.size(); ++i) {
    const uint64_t at = t.args[0] + i * sizeof(PollFd);
    int64_t failed = co_await os.memory.read(t, at, entries[i]);
    if (failed < 0) co_return failed;
    const uint16_t revents = poll(os, entries[i]);
    if (revents) ++ready;
    failed = co_await os.memory.put(t, at + offsetof(PollFd, revents), revents, 2);
    if (failed < 0) co_return failed;
  }
  co_return ready;
}

// Sleeps until one of the files is ready.
Work wait(Linux& os, Task& t, const std::vector<PollFd>& entries, Time until) {
  std::vector<OpenFileRef> files;
  std::list<WaitQueue::Member> waits;
  for (const PollFd& entry : entries) {
    if (entry.descriptor < 0) continue;
    files.push_back(os.files.at(static_cast<uint32_t>(entry.descriptor)));
    if (files.back()) waits.emplace_back(files.back()->ready, t);
  }
  const auto any = [&] {
    return std::ranges::any_of(entries, [&](const PollFd& entry) { return poll(os, entry); });
  };
  co_return co_await os.signals.wait(t, until, any);
}

}  // namespace

Work ppoll(Linux& os, Task& t) {
  if (t.args[1] > kMostFiles) co_return -EINVAL;
  Time until = kNever;
  if (t.args[2]) {
    const int64_t failed = co_await read_time(os, t, t.args[2], kClockMonotonic, true, until);
    if (failed < 0) co_return failed;
  }
  std::vector<PollFd> entries(t.args[1]);
  const int64_t ready = co_await poll_all(os, t, entries);
  if (ready || until <= t.now()) co_return ready;
  const int64_t failed = co_await wait(os, t, entries, until);
  if (failed == -ETIMEDOUT) co_return 0;
  if (failed < 0) co_return -EINTR;
  co_return co_await poll_all(os, t, entries);
}

}  // namespace uncore::calls
