// eventfd2: a file that is a counter. A write adds to it, and waits if it would overflow; a read
// takes its value (or 1, as a semaphore), and waits while it is 0.
#include "os/calls.hh"

namespace uncore {
namespace {

enum : uint64_t { EFD_SEMAPHORE = 1, EFD_NONBLOCK = O_NONBLOCK, EFD_CLOEXEC = O_CLOEXEC };

class EventFd : public OpenFile {
 public:
  EventFd(uint64_t count, uint64_t flags)
      : OpenFile(O_RDWR | (flags & EFD_NONBLOCK)),
        semaphore_(flags & EFD_SEMAPHORE),
        count_(count) {}

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t& offset) override;
  Work write(Linux& os, Task& t, UserBuffer from, uint64_t&) override;
  Stat stat() const override {
    Stat s;
    s.mode = 0600;
    return s;
  }
  uint16_t poll(const Task&) const override {
    return (count_ > 0 ? POLLIN : 0) | (fits(1) ? POLLOUT : 0);
  }

 private:
  static constexpr uint64_t kMaximum = ~uint64_t{0} - 1;

  bool fits(uint64_t more) const { return count_ <= kMaximum - more; }
  template <class Done>
  Work wait(Linux& os, Task& t, Done done) {
    if (done()) co_return 0;
    if (flags & O_NONBLOCK) co_return -EAGAIN;
    const WaitQueue::Member waits(ready, t);
    co_return co_await os.signals.wait(t, kNever, done);
  }

  const bool semaphore_;
  uint64_t count_;
};

Work EventFd::read(Linux& os, Task& t, UserBuffer to, uint64_t&) {
  if (to.size < sizeof count_) co_return -EINVAL;
  const int64_t error = co_await wait(os, t, [this] { return count_ > 0; });
  if (error < 0) co_return error;
  const uint64_t value = semaphore_ ? 1 : count_;
  count_ -= value;
  co_await ready.wake_all(os.scheduler, t, POLLOUT);
  const int64_t fault = co_await os.memory.put(t, to.address, value, sizeof value);
  co_return fault < 0 ? fault : static_cast<int64_t>(sizeof value);
}

Work EventFd::write(Linux& os, Task& t, UserBuffer from, uint64_t&) {
  uint64_t value = 0;
  if (from.size != sizeof value) co_return -EINVAL;
  const int64_t fault = co_await os.memory.read(t, from.address, value);
  if (fault < 0) co_return fault;
  if (value > kMaximum) co_return -EINVAL;
  const int64_t error = co_await wait(os, t, [this, value] { return fits(value); });
  if (error < 0) co_return error;
  count_ += value;
  co_await ready.wake_all(os.scheduler, t, POLLIN);
  co_return static_cast<int64_t>(sizeof value);
}

}  // namespace

Work calls::eventfd2(Linux& os, Task& t) {
  if (static_cast<uint32_t>(t.args[1]) & ~(EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC))
    co_return -EINVAL;
  const auto count = static_cast<uint32_t>(t.args[0]);
  co_return os.files.open(std::make_shared<EventFd>(count, t.args[1]), os.limits.descriptors(),
                          t.args[1]);
}

}  // namespace uncore
