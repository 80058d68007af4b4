// Waiting for files: they can always be read or written, so only the time is ever waited for.
#include <array>
#include <cstring>

#include "os/calls.hh"

namespace uncore::calls {
namespace {

constexpr uint64_t kMostFiles = 1 << 16;
constexpr int16_t kIn = 1, kOut = 4, kInvalidFile = 32;  // POLLIN, POLLOUT, POLLNVAL

struct Polled {
  int32_t file;
  int16_t asked, found;
};

int16_t found(Linux& os, const Polled& one) {
  if (one.file < 0) return 0;
  if (!os.files.at(static_cast<uint32_t>(one.file))) return kInvalidFile;
  return static_cast<int16_t>(one.asked & (kIn | kOut));
}

// How many of the files there is something to say of.
Work look(Linux& os, Task& t, uint64_t files, uint64_t count) {
  int64_t ready = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = files + i * sizeof(Polled);
    Polled one{};
    int64_t failed =
        co_await os.memory.copy_in(t, at, {reinterpret_cast<uint8_t*>(&one), sizeof one});
    if (failed < 0) co_return failed;
    one.found = found(os, one);
    if (one.found) ++ready;
    failed = co_await os.memory.put(t, at + 6, static_cast<uint16_t>(one.found), 2);
    if (failed < 0) co_return failed;
  }
  co_return ready;
}

}  // namespace

Work ppoll(Linux& os, Task& t) {
  if (t.args[1] > kMostFiles) co_return -EINVAL;
  Time until = kNever;
  const int64_t failed = t.args[2] ? co_await read_time(os, t, t.args[2], 1, true, until) : 0;
  if (failed < 0) co_return failed;
  const int64_t ready = co_await look(os, t, t.args[0], t.args[1]);
  if (ready || until <= t.now()) co_return ready;
  co_return co_await os.scheduler.sleep(t, until) ? 0 : -EINTR;
}

}  // namespace uncore::calls
