#include "os/stream.hh"

#include <algorithm>
#include <bit>
#include <utility>

#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore {
namespace {

// Most bytes that Linux puts into the first part of a message with files, so that one read gives
// them: a page less its header (SKB_MAX_HEAD(0)) and eight further pages (UNIX_SKB_FRAGS_SZ).
constexpr std::size_t kMostWithFiles = 3'776 + 32'768;

uint64_t size_of(const UserBuffers& parts) {
  uint64_t all = 0;
  for (const UserBuffer& part : parts) all += part.size;
  return all;
}

// Calls work(part, place) for each buffer, or piece of a buffer, that holds the bytes [at, at +
// size) of a vector of buffers. `place` is the piece's offset in this range.
template <class PartWork>
Work each(const UserBuffers& parts, uint64_t at, uint64_t size, PartWork work) {
  for (uint64_t done = 0, i = 0; i < parts.size() && done < size; ++i) {
    const uint64_t skipped = std::min(at, parts[i].size);
    const uint64_t here = std::min(parts[i].size - skipped, size - done);
    at -= skipped;
    if (here == 0) continue;
    const int64_t error = co_await work(UserBuffer{parts[i].address + skipped, here}, done);
    if (error < 0) co_return error;
    done += here;
  }
  co_return 0;
}

// Returns how many of the bytes [at, at + size) of a vector of buffers, from its beginning, a call
// may write.
std::size_t writable_bytes(const UserMemory& memory, const UserBuffers& parts, uint64_t at,
                           uint64_t size) {
  uint64_t done = 0;
  for (const UserBuffer& part : parts) {
    const uint64_t skipped = std::min(at, part.size);
    const uint64_t here = std::min(part.size - skipped, size - done);
    const uint64_t possible = memory.usable(part.address + skipped, here, UserMemory::Use::write);
    at -= skipped, done += possible;
    if (possible < here) break;
  }
  return done;
}

// Returns the bytes that Linux's buffer of a datagram takes (skb->truesize): a structure, and
// memory for the data and a second structure, which is a power of two. What is beyond four pages is
// in pages of its own.
std::size_t buffer_bytes(std::size_t size) {
  constexpr std::size_t kStructure = 256, kSecond = 320, kPage = 4096, kLine = 64;
  constexpr std::size_t kMostTogether = 4 * kPage - kSecond;
  const std::size_t beyond = size - std::min(size, kMostTogether);
  const std::size_t in_pages = std::min(size, (beyond + kPage - 1) / kPage * kPage);
  const std::size_t together = (size - in_pages + kLine - 1) / kLine * kLine;
  return kStructure + std::bit_ceil(together + kSecond) + in_pages;
}

}  // namespace

Work Stream::notify(Linux& os, Task& t, const std::weak_ptr<OpenFile>& whom, uint16_t events) {
  const std::shared_ptr<OpenFile> file = whom.lock();
  if (file) co_await file->ready.wake_all(os.scheduler, t, events);
  co_return 0;
}

// Returns up to `most` bytes for a reader, from one datagram or from the stream, there up to the
// end of a message with files, and removes them unless they are peeked at. The rest of a datagram
// is discarded. The first byte that is taken of a message brings its files. As in Linux, who only
// peeks gets those of the next message that has any, even behind `most` bytes.
//
// Bytes that were sent together are taken together: if those of a stream cannot all be written to
// the reader's buffers they stay, and `torn` becomes those that can, which Linux has copied before
// it fails.
std::string Stream::take(std::size_t most, const Writable& writable, const IoOptions& io_options,
                         ReceiveResult& received, std::optional<std::string>& torn) {
  const bool peeks = io_options.peeks;
  std::string taken;
  if (datagrams_ && has_some()) {
    const Part& first = parts_.front();
    received.from = first.from ? *first.from : "", received.full_size = first.bytes.size();
  }
  for (Part& part : parts_) {
    received.is_complete =
        io_options.by_sender && received.is_signed.value_or(part.is_signed) != part.is_signed;
    if (received.is_complete) break;
    received.is_signed = part.is_signed;
    const std::size_t whole = std::min(most - taken.size(), part.bytes.size());
    const std::size_t possible = datagrams_ ? whole : writable(taken.size(), whole);
    received.is_complete = possible < whole;
    if (received.is_complete) {
      torn = part.bytes.substr(0, possible);
      break;
    }
    taken += part.bytes.substr(0, whole);
    received.is_complete = datagrams_ || part.packed || !part.files.empty();
    received.files = peeks ? part.files : std::exchange(part.files, {});
    if (received.is_complete || (taken.size() == most && !peeks)) break;
  }
  if (peeks || parts_.empty()) return taken;
  if (datagrams_) {
    bytes_ -= buffer_bytes(received.full_size);
    parts_.pop_front();
    return taken;
  }
  bytes_ -= taken.size();
  for (std::size_t left = taken.size(); left > 0;) {
    std::string& first = parts_.front().bytes;
    const std::size_t part = std::min(left, first.size());
    left -= part;
    if (part < first.size() && !parts_.front().packed) {
      first.erase(0, part);
      parts_.front().taken += part;
    } else {
      bytes_ -= first.size() - part;
      parts_.pop_front();
    }
  }
  return taken;
}

// Waits until there are bytes and receives them. With io_options.waits_for_all, repeats this until
// all buffers are full. An error that ends such a wait is lost if there were bytes, as in Linux.
Work Stream::receive(Linux& os, Task& t, OpenFile& self, UserBuffers to, IoOptions io_options,
                     ReceiveResult& received) {
  const uint64_t room = size_of(to);
  uint64_t done = 0;
  const auto done_or = [&done](int64_t error) { return done ? static_cast<int64_t>(done) : error; };
  if (room == 0 && !datagrams_ && !io_options.waits_if_zero) co_return 0;
  const auto ready = [this] { return has_some() || has_error() || writer_closed_; };
  do {
    if (!ready() && !io_options.waits) co_return done_or(-EAGAIN);
    if (!ready()) {
      const WaitQueue::Member waits(self.ready, t);
      const int64_t error = co_await os.signals.wait(t, kNever, ready);
      if (error < 0) co_return done_or(error);
    }
    if (!has_some() && has_error()) co_return done_or(take_error());
    const int64_t size = co_await deliver(os, t, to, done, io_options, received);
    if (size < 0) co_return done_or(size);
    if (size == 0) break;
    done += static_cast<uint64_t>(size);
  } while (io_options.waits_for_all && !io_options.peeks && !received.is_complete && done < room);
  co_return static_cast<int64_t>(done);
}

// Copies bytes to the program. A fault discards a datagram, unless it is only peeked at; bytes of a
// stream stay.
Work Stream::deliver(Linux& os, Task& t, const UserBuffers& to, uint64_t at, IoOptions io_options,
                     ReceiveResult& received) {
  const auto writable = [&](std::size_t offset, std::size_t size) {
    return writable_bytes(os.memory, to, at + offset, size);
  };
  std::optional<std::string> torn;
  const std::string taken = take(size_of(to) - at, writable, io_options, received, torn);
  const bool fails = torn && taken.empty();
  if (io_options.peeks)
    FilesInFlight::hold(received.files);
  else
    os.in_flight.taken(received.files.size());
  if (!io_options.peeks && !fails) co_await notify(os, t, writer, POLLOUT);
  const std::string copied = taken + torn.value_or("");
  const auto* const bytes = reinterpret_cast<const uint8_t*>(copied.data());
  const auto copy = [&](UserBuffer part, uint64_t place) {
    return os.memory.copy_out(t, {bytes + place, static_cast<std::size_t>(part.size)},
                              part.address);
  };
  const int64_t error = co_await each(to, at, copied.size(), copy);
  if (error < 0) co_return error;
  co_return fails ? -EFAULT : static_cast<int64_t>(taken.size());
}

// True if the last page of a pipe has room for these bytes.
bool Stream::can_join(std::size_t size) const {
  if (!pages_ || size == 0 || !has_some() || parts_.back().packed) return false;
  return parts_.back().taken + parts_.back().bytes.size() + size <= kPipeBuf;
}

// Sends a datagram as a whole. Sends other bytes in parts of up to kPipeBuf, and waits for room
// before each. What is left over of whole pages goes into the last page of a pipe, if it can.
Work Stream::send(Linux& os, Task& t, OpenFile& self, UserBuffers from, IoOptions io_options,
                  std::shared_ptr<const std::string> sender, OpenFileRefs& files) {
  const uint64_t all = size_of(from);
  uint64_t done = 0;
  if (all == 0 && !datagrams_ && !reader_closed_ && !writer_closed_) co_return 0;
  do {
    const bool joins = done == 0 && can_join(all % kPipeBuf);
    const std::size_t most = datagrams_ ? room_ : files.empty() ? kPipeBuf : kMostWithFiles;
    const std::size_t whole = std::min<uint64_t>(all - done, most);
    const std::size_t part = joins ? all % kPipeBuf : whole;
    if (datagrams_ && part < all) co_return -EMSGSIZE;
    const auto ready = [&] { return reader_closed_ || writer_closed_ || joins || has_room(part); };
    if (!ready() && !io_options.waits) co_return done ? static_cast<int64_t>(done) : -EAGAIN;
    if (!ready()) {
      const WaitQueue::Member waits(self.ready, t);
      const int64_t error = co_await os.signals.wait(t, kNever, ready);
      if (error < 0) co_return done ? static_cast<int64_t>(done) : error;
    }
    if (reader_closed_ || writer_closed_) {
      if (io_options.signals)
        co_await os.signals.send(t, t.hart, t, {.number = SIGPIPE, .code = SI_USER});
      co_return done ? static_cast<int64_t>(done) : -EPIPE;
    }
    const std::size_t carried = files.size();
    if (carried > 0 && os.in_flight.count() > os.limits.descriptors()) co_return -ETOOMANYREFS;
    std::string bytes(part, '\0');
    auto* const to = reinterpret_cast<uint8_t*>(bytes.data());
    const auto copy = [&](UserBuffer piece, uint64_t place) {
      return os.memory.copy_in(t, piece.address,
                               {to + place, static_cast<std::size_t>(piece.size)});
    };
    const int64_t fault = co_await each(from, done, part, copy);
    if (fault < 0) co_return done ? static_cast<int64_t>(done) : fault;
    if (carried > 0 && reader_closed_) co_return -EPIPE;
    bytes_ += datagrams_ ? buffer_bytes(part) : part;
    if (joins && can_join(part))
      parts_.back().bytes += bytes;
    else if (part || datagrams_)
      parts_.push_back({.bytes = std::move(bytes),
                        .from = sender,
                        .packed = io_options.packs,
                        .is_signed = io_options.is_signed,
                        .files = std::exchange(files, {})});
    if (carried > 0) os.in_flight.sent(reader.lock(), carried);
    done += part;
    co_await notify(os, t, reader, POLLIN);
  } while (done < all);
  co_return static_cast<int64_t>(done);
}

bool Stream::carries_files() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return !part.files.empty(); });
}

void Stream::each_file(const std::function<void(const OpenFileRef&)>& visit) const {
  for (const Part& part : parts_)
    for (const OpenFileRef& file : part.files) visit(file);
}

OpenFileRefs Stream::take_files() {
  OpenFileRefs files;
  for (Part& part : parts_) {
    files.insert(files.end(), part.files.begin(), part.files.end());
    part.files.clear();
  }
  return files;
}

OpenFileRefs Stream::clear() {
  OpenFileRefs files = take_files();
  parts_.clear();
  bytes_ = 0;
  return files;
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
