#include "os/stream.hh"

#include <algorithm>
#include <utility>

#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore {

Work Stream::tell(Linux& os, Task& t, const std::weak_ptr<OpenFile>& whom, uint16_t events) {
  const std::shared_ptr<OpenFile> file = whom.lock();
  if (file) co_await file->ready.wake_all(os.scheduler, t, events);
  co_return 0;
}

// The bytes that a reader gets: those of one datagram, or as many as there are.
std::string Stream::take(std::size_t most, bool keeps, Got& got) {
  std::string taken;
  for (auto part = parts_.begin(); part != parts_.end() && taken.size() < most; ++part) {
    taken += part->bytes.substr(0, most - taken.size());
    if (!datagrams_) continue;
    got.from = part->from, got.whole = part->bytes.size();
    break;
  }
  if (keeps || parts_.empty()) return taken;
  if (datagrams_) {
    got.from = parts_.front().from, got.whole = parts_.front().bytes.size();
    bytes_ -= got.whole;
    parts_.pop_front();
    return taken;
  }
  bytes_ -= taken.size();
  for (std::size_t left = taken.size(); left > 0;) {
    std::string& first = parts_.front().bytes;
    const std::size_t part = std::min(left, first.size());
    left -= part;
    if (part == first.size())
      parts_.pop_front();
    else
      first.erase(0, part);
  }
  return taken;
}

Work Stream::receive(Linux& os, Task& t, OpenFile& self, UserBuffer to, How how, Got& got) {
  if (to.size == 0 && !datagrams_) co_return 0;
  const auto done = [this] { return has_some() || ended_; };
  if (!done() && !how.waits) co_return -EAGAIN;
  if (!done()) {
    const WaitQueue::Member waits(self.ready, t);
    const int64_t failed = co_await os.signals.wait(t, kNever, done);
    if (failed < 0) co_return failed;
  }
  const std::size_t most = std::min<uint64_t>(to.size, OpenFile::kMost);
  const int64_t fault = co_await os.memory.reach(t, to.address, std::min(most, bytes()));
  if (fault < 0) co_return fault;
  const std::string taken = take(most, how.keeps, got);
  if (!how.keeps) co_await tell(os, t, writer, POLLOUT);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(taken.data());
  const int64_t failed = co_await os.memory.copy_out(t, {bytes, taken.size()}, to.address);
  co_return failed < 0 ? failed : static_cast<int64_t>(taken.size());
}

// Where little room is left, what is longer than kPipeBuf goes as far as it can.
Work Stream::send(Linux& os, Task& t, OpenFile& self, UserBuffer from, How how,
                  std::string sender) {
  uint64_t done = 0;
  do {
    const std::size_t part = std::min<uint64_t>(from.size - done, datagrams_ ? room_ : kPipeBuf);
    if (datagrams_ && part < from.size) co_return -EMSGSIZE;
    const auto ready = [&] { return unread_ || ended_ || has_room(part); };
    if (!ready() && !how.waits) co_return done ? static_cast<int64_t>(done) : -EAGAIN;
    if (!ready()) {
      const WaitQueue::Member waits(self.ready, t);
      const int64_t failed = co_await os.signals.wait(t, kNever, ready);
      if (failed < 0) co_return done ? static_cast<int64_t>(done) : failed;
    }
    if (unread_ || ended_) {
      if (how.signals) co_await os.signals.send(t, t.hart, t, {.number = SIGPIPE, .code = SI_USER});
      co_return done ? static_cast<int64_t>(done) : -EPIPE;
    }
    std::string bytes(part, '\0');
    const int64_t fault = co_await os.memory.copy_in(
        t, from.address + done, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
    if (fault < 0) co_return done ? static_cast<int64_t>(done) : fault;
    bytes_ += part;
    if (part || datagrams_) parts_.push_back({std::move(bytes), sender});
    done += part;
    co_await tell(os, t, reader, POLLIN);
  } while (done < from.size);
  co_return static_cast<int64_t>(done);
}

Work Stream::close_reading(Linux& os, Task& t) {
  unread_ = true;
  co_return co_await tell(os, t, writer, POLLOUT | POLLERR);
}

Work Stream::close_writing(Linux& os, Task& t) {
  ended_ = true;
  co_return co_await tell(os, t, reader, POLLIN | POLLHUP | POLLRDHUP);
}

}  // namespace uncore
