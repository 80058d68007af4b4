// signalfd4: a file from which a task reads its pending signals instead of handling them.
#include <algorithm>

#include "os/calls.hh"

namespace uncore {
namespace {

enum : uint64_t { SFD_NONBLOCK = O_NONBLOCK, SFD_CLOEXEC = O_CLOEXEC };

struct Record {  // struct signalfd_siginfo
  uint32_t number;
  int32_t error, code;
  uint32_t pid, uid;
  int32_t descriptor;
  uint32_t tid, band, overrun, trap;
  int32_t status, integer;
  uint64_t pointer, user_time, system_time, address;
  uint8_t rest[48];
};
static_assert(sizeof(Record) == 128);

Record record_of(const SignalInfo& signal) {
  Record r{};
  r.number = signal.number, r.code = signal.code;
  r.pid = static_cast<uint32_t>(signal.value), r.uid = static_cast<uint32_t>(signal.value >> 32);
  r.integer = static_cast<int32_t>(signal.sent), r.pointer = signal.sent;
  return r;
}

class SignalFd : public OpenFile {
 public:
  SignalFd(Signals& signals, uint64_t set, uint64_t flags)
      : OpenFile(O_RDWR | flags), wanted(set), signals_(signals) {}

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t&) override;
  Work write(Linux&, Task&, UserBuffer, uint64_t&) override { co_return -EINVAL; }
  bool can_write() const override { return false; }
  Stat stat() const override {
    Stat s;
    s.mode = 0600;
    return s;
  }
  uint16_t poll(const Task& t) const override { return signals_.pending(t) & wanted ? POLLIN : 0; }
  WaitQueue& waits() override { return signals_.watched; }

  uint64_t wanted;

 private:
  Signals& signals_;
};

Work SignalFd::read(Linux& os, Task& t, UserBuffer to, uint64_t&) {
  std::vector<Record> records;
  const uint64_t max_records = std::min<uint64_t>(to.size, kMaxDeviceTransfer) / sizeof(Record);
  if (max_records == 0) co_return -EINVAL;
  if (!poll(t) && (flags & O_NONBLOCK)) co_return -EAGAIN;
  if (!poll(t)) {
    const WaitQueue::Member queued(waits(), t);
    const int64_t error = co_await os.signals.wait(t, kNever, [&] { return poll(t) != 0; });
    if (error < 0) co_return error;
  }
  while (poll(t) && records.size() < max_records)
    records.push_back(record_of(signals_.take(t, wanted)));
  const auto* const bytes = reinterpret_cast<const uint8_t*>(records.data());
  const std::size_t size = records.size() * sizeof(Record);
  const int64_t fault = co_await os.memory.copy_out(t, {bytes, size}, to.address);
  co_return fault < 0 ? fault : static_cast<int64_t>(size);
}

}  // namespace

Work calls::signalfd4(Linux& os, Task& t) {
  uint64_t set = 0;
  if (t.args[2] != sizeof set) co_return -EINVAL;
  const int64_t error = co_await os.memory.read(t, t.args[1], set);
  if (error < 0) co_return error;
  if (static_cast<uint32_t>(t.args[3]) & ~(SFD_NONBLOCK | SFD_CLOEXEC)) co_return -EINVAL;
  set = Signals::blockable(set);
  if (static_cast<int32_t>(t.args[0]) != -1) {
    const std::shared_ptr<SignalFd> file = os.files.at(t.args[0]).as<SignalFd>();
    if (!file) co_return os.files.at(t.args[0]) ? -EINVAL : -EBADF;
    file->wanted = set;
    co_return static_cast<uint32_t>(t.args[0]);
  }
  const auto file = std::make_shared<SignalFd>(os.signals, set, t.args[3] & SFD_NONBLOCK);
  co_return os.files.open(file, os.limits.descriptors(), t.args[3]);
}

}  // namespace uncore
