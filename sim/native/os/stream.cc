#include "os/stream.hh"

#include <algorithm>
#include <utility>

#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore {
namespace {

uint64_t size_of(const UserBuffers& parts) {
  uint64_t all = 0;
  for (const UserBuffer& part : parts) all += part.size;
  return all;
}

// Calls work(part, place) for each buffer, or piece of a buffer, that holds the bytes
// [offset, offset + size) of a vector of buffers. `place` is the offset of the piece in this range.
template <class PartWork>
Work for_each_part(const UserBuffers& parts, uint64_t offset, uint64_t size, PartWork work) {
  for (uint64_t num_done = 0, i = 0; i < parts.size() && num_done < size; ++i) {
    const uint64_t skipped = std::min(offset, parts[i].size);
    const uint64_t part_size = std::min(parts[i].size - skipped, size - num_done);
    offset -= skipped;
    if (part_size == 0) continue;
    const int64_t failed =
        co_await work(UserBuffer{parts[i].address + skipped, part_size}, num_done);
    if (failed < 0) co_return failed;
    num_done += part_size;
  }
  co_return 0;
}

}  // namespace

Work Stream::notify(Linux& os, Task& t, const std::weak_ptr<OpenFile>& waiter, uint16_t events) {
  const std::shared_ptr<OpenFile> file = waiter.lock();
  if (file) co_await file->ready.wake_all(os.scheduler, t, events);
  co_return 0;
}

// Returns up to `max_bytes` bytes for a reader, from one datagram or from the whole stream, and
// removes them unless `peeks`. The rest of a datagram is discarded.
std::string Stream::take(std::size_t max_bytes, bool peeks, Received& received) {
  std::string bytes;
  if (datagrams_ && has_some())
    received.from = parts_.front().from, received.full_size = parts_.front().bytes.size();
  for (auto part = parts_.begin(); part != parts_.end() && bytes.size() < max_bytes; ++part) {
    bytes += part->bytes.substr(0, max_bytes - bytes.size());
    if (datagrams_) break;
  }
  if (peeks || parts_.empty()) return bytes;
  if (datagrams_) {
    bytes_ -= received.full_size;
    parts_.pop_front();
    return bytes;
  }
  bytes_ -= bytes.size();
  for (std::size_t to_remove = bytes.size(); to_remove > 0;) {
    std::string& first = parts_.front().bytes;
    const std::size_t part = std::min(to_remove, first.size());
    to_remove -= part;
    if (part == first.size())
      parts_.pop_front();
    else
      first.erase(0, part);
  }
  return bytes;
}

// Waits until there are bytes and receives them. With io_options.waits_for_all, repeats this until
// all buffers are full.
Work Stream::receive(Linux& os, Task& t, OpenFile& self, UserBuffers to, IoOptions io_options,
                     Received& received) {
  const uint64_t room = size_of(to);
  uint64_t num_received = 0;
  if (room == 0 && !datagrams_ && !io_options.waits_if_zero) co_return 0;
  const auto ready = [this] { return has_some() || writer_closed_; };
  do {
    if (!ready() && !io_options.waits)
      co_return num_received ? static_cast<int64_t>(num_received) : -EAGAIN;
    if (!ready()) {
      const WaitQueue::Member waits(self.ready, t);
      const int64_t failed = co_await os.signals.wait(t, kNever, ready);
      if (failed < 0) co_return num_received ? static_cast<int64_t>(num_received) : failed;
    }
    if (!has_some() && num_received == 0 && take_reset()) co_return -ECONNRESET;
    const int64_t size = co_await deliver(os, t, to, num_received, io_options.peeks, received);
    if (size < 0) co_return num_received ? static_cast<int64_t>(num_received) : size;
    if (size == 0) break;
    num_received += static_cast<uint64_t>(size);
  } while (io_options.waits_for_all && !io_options.peeks && !datagrams_ && num_received < room);
  co_return static_cast<int64_t>(num_received);
}

// Copies bytes to the program. If a buffer is not mapped, fails before it takes any byte.
Work Stream::deliver(Linux& os, Task& t, const UserBuffers& to, uint64_t offset, bool peeks,
                     Received& received) {
  const uint64_t room = size_of(to) - offset;
  const std::size_t max_bytes =
      datagrams_ ? room : std::min<uint64_t>(room, OpenFile::kMaxTransfer);
  const auto reach = [&](UserBuffer part, uint64_t) {
    return os.memory.reach(t, part.address, part.size, UserMemory::Use::write);
  };
  const int64_t fault = co_await for_each_part(to, offset, std::min(max_bytes, bytes()), reach);
  const bool stays = peeks || (fault < 0 && !datagrams_);  // a fault discards a datagram
  const std::string taken = take(max_bytes, stays, received);
  if (!stays) co_await notify(os, t, writer, POLLOUT);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(taken.data());
  const auto copy = [&](UserBuffer part, uint64_t place) {
    return os.memory.copy_out(t, {bytes + place, static_cast<std::size_t>(part.size)},
                              part.address);
  };
  const int64_t failed = co_await for_each_part(to, offset, taken.size(), copy);
  co_return failed < 0 ? failed : static_cast<int64_t>(taken.size());
}

// Sends a datagram as a whole. Sends other bytes in parts of up to kPipeBuf, and waits for room
// before each.
Work Stream::send(Linux& os, Task& t, OpenFile& self, UserBuffers from, IoOptions io_options,
                  std::string sender) {
  const uint64_t all = size_of(from);
  uint64_t num_sent = 0;
  if (all == 0 && !datagrams_ && !reader_closed_ && !writer_closed_) co_return 0;
  do {
    const std::size_t part = std::min<uint64_t>(all - num_sent, datagrams_ ? room_ : kPipeBuf);
    if (datagrams_ && part < all) co_return -EMSGSIZE;
    const auto ready = [&] { return reader_closed_ || writer_closed_ || has_room(part); };
    if (!ready() && !io_options.waits)
      co_return num_sent ? static_cast<int64_t>(num_sent) : -EAGAIN;
    if (!ready()) {
      const WaitQueue::Member waits(self.ready, t);
      const int64_t failed = co_await os.signals.wait(t, kNever, ready);
      if (failed < 0) co_return num_sent ? static_cast<int64_t>(num_sent) : failed;
    }
    if (reader_closed_ || writer_closed_) {
      if (io_options.signals)
        co_await os.signals.send(t, t.hart, t, {.number = SIGPIPE, .code = SI_USER});
      co_return num_sent ? static_cast<int64_t>(num_sent) : -EPIPE;
    }
    std::string bytes(part, '\0');
    auto* const to = reinterpret_cast<uint8_t*>(bytes.data());
    const auto copy = [&](UserBuffer piece, uint64_t place) {
      return os.memory.copy_in(t, piece.address,
                               {to + place, static_cast<std::size_t>(piece.size)});
    };
    const int64_t fault = co_await for_each_part(from, num_sent, part, copy);
    if (fault < 0) co_return num_sent ? static_cast<int64_t>(num_sent) : fault;
    bytes_ += part;
    if (part || datagrams_) parts_.push_back({std::move(bytes), sender});
    num_sent += part;
    co_await notify(os, t, reader, POLLIN);
  } while (num_sent < all);
  co_return static_cast<int64_t>(num_sent);
}

Work Stream::close_reading(Linux& os, Task& t) {
  reader_closed_ = true;
  co_return co_await notify(os, t, writer, POLLOUT | POLLERR);
}

Work Stream::close_writing(Linux& os, Task& t) {
  writer_closed_ = true;
  co_return co_await notify(os, t, reader, POLLIN | POLLHUP | POLLRDHUP);
}

}  // namespace uncore
