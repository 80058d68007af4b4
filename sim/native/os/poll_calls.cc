// ppoll and pselect6, which wait until files are ready.
#include <algorithm>
#include <array>
#include <list>

#include "os/calls.hh"

namespace uncore::calls {

// Replaces the signal mask by the set at `from` while the call waits, unless `from` is null.
Work mask_from(Linux& os, Task& t, uint64_t from, uint64_t size) {
  uint64_t set = 0;
  if (!from) co_return 0;
  if (size != sizeof set) co_return -EINVAL;
  const int64_t error = co_await os.memory.read(t, from, set);
  if (error == 0) os.signals.mask_in_call(t, set);
  co_return error;
}

namespace {

struct PollFd {  // struct pollfd
  int32_t descriptor;
  uint16_t events, revents;
};

uint16_t poll(const Linux& os, const Task& t, const PollFd& entry) {
  if (entry.descriptor < 0) return 0;
  const OpenFileRef file = os.files.at(static_cast<uint32_t>(entry.descriptor));
  return file ? answered(entry.events, file->poll(t)) : uint16_t{POLLNVAL};
}

// Writes each entry's `revents`: the events that its file is ready for. Returns the number of files
// that are ready.
Work poll_all(Linux& os, Task& t, std::vector<PollFd>& entries) {
  int64_t num_ready = 0;
  for (uint64_t i = 0; i < entries.size(); ++i) {
    const uint64_t entry_address = t.args[0] + i * sizeof(PollFd);
    int64_t error = co_await os.memory.read(t, entry_address, entries[i]);
    if (error < 0) co_return error;
    const uint16_t revents = poll(os, t, entries[i]);
    if (revents) ++num_ready;
    error = co_await os.memory.put(t, entry_address + offsetof(PollFd, revents), revents, 2);
    if (error < 0) co_return error;
  }
  co_return num_ready;
}

// Sleeps until one of the files is ready, or until the time `until`.
Work wait(Linux& os, Task& t, const std::vector<PollFd>& entries, Time until) {
  std::vector<OpenFileRef> files;
  std::list<WaitQueue::Member> waits;
  for (const PollFd& entry : entries) {
    if (entry.descriptor < 0) continue;
    files.push_back(os.files.at(static_cast<uint32_t>(entry.descriptor)));
    if (files.back()) waits.emplace_back(files.back()->waits(), t);
  }
  const auto any = [&] {
    return std::ranges::any_of(entries, [&](const PollFd& entry) { return poll(os, t, entry); });
  };
  co_return co_await os.signals.wait(t, until, any);
}

// The three sets of descriptors of select: for reading, for writing, and for exceptional
// conditions, which never occur.
struct Sets {
  static constexpr std::array<uint16_t, 3> kEvents = {POLLIN, POLLOUT, 0};

  std::array<std::vector<uint64_t>, 3> asked;
  uint64_t descriptors = 0;

  uint16_t events(uint64_t descriptor) const {
    uint16_t all = 0;
    for (std::size_t set = 0; set < asked.size(); ++set)
      if (!asked[set].empty() && (asked[set][descriptor / 64] >> descriptor % 64 & 1))
        all |= kEvents[set];
    return all;
  }
  bool asks(uint64_t descriptor) const {
    return std::ranges::any_of(asked, [&](const std::vector<uint64_t>& set) {
      return !set.empty() && (set[descriptor / 64] >> descriptor % 64 & 1);
    });
  }
};

std::span<uint8_t> bytes_of(std::vector<uint64_t>& words) {
  return {reinterpret_cast<uint8_t*>(words.data()), words.size() * sizeof words[0]};
}

Work read_sets(Linux& os, Task& t, Sets& sets) {
  sets.descriptors = std::min<uint64_t>(static_cast<uint32_t>(t.args[0]), os.limits.descriptors());
  for (std::size_t set = 0; set < sets.asked.size(); ++set) {
    if (!t.args[1 + set]) continue;
    sets.asked[set].resize((sets.descriptors + 63) / 64);
    const int64_t error = co_await os.memory.copy_in(t, t.args[1 + set], bytes_of(sets.asked[set]));
    if (error < 0) co_return error;
  }
  co_return 0;
}

// Returns the events to report to select, which regards a hang-up or an error as readable, and an
// error also as writable.
uint16_t selected_events(uint16_t wanted, uint16_t ready) {
  uint16_t found = wanted & ready;
  if (ready & (POLLHUP | POLLERR)) found |= wanted & POLLIN;
  if (ready & POLLERR) found |= wanted & POLLOUT;
  return found;
}

// Writes the sets back with only the ready files in them. Returns the number of bits set.
Work write_sets(Linux& os, Task& t, Sets& sets, const std::vector<PollFd>& entries) {
  int64_t count = 0;
  const uint64_t last_bits = sets.descriptors % 64;
  for (auto& set : sets.asked)
    if (!set.empty() && last_bits) set.back() &= (uint64_t{1} << last_bits) - 1;
  for (const PollFd& entry : entries) {
    const auto d = static_cast<uint64_t>(entry.descriptor);
    const OpenFileRef file = os.files.at(d);
    const uint16_t found = file ? selected_events(entry.events, file->poll(t)) : 0;
    for (std::size_t set = 0; set < sets.asked.size(); ++set) {
      if (sets.asked[set].empty()) continue;
      uint64_t& word = sets.asked[set][d / 64];
      const bool was = word >> d % 64 & 1, is = was && (found & Sets::kEvents[set]);
      word = (word & ~(uint64_t{1} << d % 64)) | uint64_t{is} << d % 64;
      count += is;
    }
  }
  for (std::size_t set = 0; set < sets.asked.size(); ++set) {
    if (!t.args[1 + set]) continue;
    const int64_t error =
        co_await os.memory.copy_out(t, bytes_of(sets.asked[set]), t.args[1 + set]);
    if (error < 0) co_return error;
  }
  co_return count;
}

Work sigmask_of_select(Linux& os, Task& t) {
  struct {
    uint64_t set, size;
  } mask{};
  if (!t.args[5]) co_return 0;
  const int64_t error = co_await os.memory.read(t, t.args[5], mask);
  if (error < 0) co_return error;
  co_return co_await mask_from(os, t, mask.set, mask.size);
}

}  // namespace

Work ppoll(Linux& os, Task& t) {
  const auto num_entries = static_cast<uint32_t>(t.args[1]);
  const uint64_t bytes = num_entries * sizeof(PollFd);
  Time until = kNever;
  if (t.args[2]) {
    const int64_t error = co_await read_time(os, t, t.args[2], kClockMonotonic, true, until);
    if (error < 0) co_return error;
  }
  const int64_t unmasked = co_await mask_from(os, t, t.args[3], t.args[4]);
  if (unmasked < 0) co_return unmasked;
  if (num_entries > os.limits.descriptors()) co_return -EINVAL;
  if (!UserMemory::is_range(t.args[0], bytes)) co_return -EFAULT;
  if (os.memory.usable(t.args[0], bytes, UserMemory::Use::read) < bytes) co_return -EFAULT;
  std::vector<PollFd> entries(num_entries);
  const int64_t num_ready = co_await poll_all(os, t, entries);
  if (!num_ready && os.signals.due(t)) co_return -EINTR;
  if (num_ready || until <= t.now()) co_return num_ready;
  const int64_t error = co_await wait(os, t, entries, until);
  if (error == -ETIMEDOUT) co_return 0;
  if (error < 0) co_return -EINTR;
  co_return co_await poll_all(os, t, entries);
}

Work pselect6(Linux& os, Task& t) {
  Time until = kNever;
  if (t.args[4]) {
    const int64_t error = co_await read_time(os, t, t.args[4], kClockMonotonic, true, until);
    if (error < 0) co_return error;
  }
  Sets sets;
  if (static_cast<int32_t>(t.args[0]) < 0) co_return -EINVAL;
  int64_t error = co_await read_sets(os, t, sets);
  if (error == 0) error = co_await sigmask_of_select(os, t);
  if (error < 0) co_return error;
  std::vector<PollFd> entries;
  for (uint64_t d = 0; d < sets.descriptors; ++d) {
    if (!sets.asks(d)) continue;
    if (!os.files.at(d)) co_return -EBADF;
    entries.push_back({static_cast<int32_t>(d), sets.events(d), 0});
  }
  error = co_await wait(os, t, entries, until);
  if (error < 0 && error != -ETIMEDOUT) co_return -EINTR;
  co_return co_await write_sets(os, t, sets, entries);
}

}  // namespace uncore::calls
