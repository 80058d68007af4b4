// Waiting for files: they can always be read or written, so only the time is ever waited for.
#include <array>
#include <cstring>

#include "os/calls.hh"
#include "os/errors.hh"

namespace uncore::calls {
namespace {

constexpr uint64_t kMostFiles = 1 << 16;
constexpr int16_t kIn = 1, kOut = 4, kInvalidFile = 32;  // POLLIN, POLLOUT, POLLNVAL

struct Polled {
  int32_t file;
  int16_t asked, found;
};

int16_t found(Kernel& k, const Polled& one) {
  if (one.file < 0) return 0;
  if (!k.files.at(static_cast<uint32_t>(one.file))) return kInvalidFile;
  return static_cast<int16_t>(one.asked & (kIn | kOut));
}

// How many of the files there is something to say of.
Work look(Kernel& k, Task& t, uint64_t files, uint64_t count) {
  int64_t ready = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = files + i * sizeof(Polled);
    Polled one{};
    int64_t failed = co_await k.copy_in(t, at, {reinterpret_cast<uint8_t*>(&one), sizeof one});
    if (failed < 0) co_return failed;
    one.found = found(k, one);
    if (one.found) ++ready;
    failed = co_await k.put(t, at + 6, static_cast<uint16_t>(one.found), 2);
    if (failed < 0) co_return failed;
  }
  co_return ready;
}

}  // namespace

Work ppoll(Kernel& k, Task& t) {
  if (t.a[1] > kMostFiles) co_return kInvalid;
  Time until = kNever;
  const int64_t failed = t.a[2] ? co_await read_time(k, t, t.a[2], 1, true, until) : 0;
  if (failed < 0) co_return failed;
  const int64_t ready = co_await look(k, t, t.a[0], t.a[1]);
  if (ready || until <= k.now(t)) co_return ready;
  co_return co_await k.sleep(t, until) ? 0 : kInterrupted;
}

}  // namespace uncore::calls
