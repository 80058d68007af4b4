// pipe2: a stream with a file at each end.
#include <algorithm>
#include <bit>

#include "os/calls.hh"
#include "os/stream.hh"

namespace uncore {
namespace {

constexpr std::size_t kPipeBytes = 65536;  // 16 pages, pipe(7)

class PipeEnd : public OpenFile {
 public:
  PipeEnd(std::shared_ptr<Stream> stream, uint64_t flags)
      : OpenFile(flags), stream_(std::move(stream)) {}

  Stream& stream() const { return *stream_; }
  int64_t readable_bytes() const override { return static_cast<int64_t>(stream_->bytes()); }
  Stat stat() const override {
    Stat s;
    s.mode = S_IFIFO | 0600;
    return s;
  }

 protected:
  Stream::IoOptions io_options() const {
    return {.waits = !(flags & O_NONBLOCK), .packs = (flags & O_DIRECT) != 0};
  }

  const std::shared_ptr<Stream> stream_;
};

class ReadEnd : public PipeEnd {
 public:
  using PipeEnd::PipeEnd;

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t&) override {
    Stream::ReceiveResult received;
    co_return co_await stream_->receive(os, t, *this, UserBuffers(1, to), io_options(), received);
  }
  Work write(Linux&, Task&, UserBuffer, uint64_t&) override { co_return 0; }  // never called
  uint16_t poll(const Task&) const override {
    return (stream_->has_some() ? kReadable : 0) | (stream_->is_writer_closed() ? POLLHUP : 0);
  }
  Work hang_up(Linux& os, Task& t) override { return stream_->close_reading(os, t); }
};

class WriteEnd : public PipeEnd {
 public:
  using PipeEnd::PipeEnd;

  Work read(Linux&, Task&, UserBuffer, uint64_t&) override { co_return 0; }  // never called
  Work write(Linux& os, Task& t, UserBuffer from, uint64_t&) override {
    OpenFileRefs no_files;
    if (from.size == 0) co_return 0;
    co_return co_await stream_->send(os, t, *this, UserBuffers(1, from), io_options(), {},
                                     no_files);
  }
  uint16_t poll(const Task&) const override {
    return (stream_->has_room(Stream::kPipeBuf) ? kWritable : 0) |
           (stream_->is_reader_closed() ? POLLERR : 0);
  }
  Work hang_up(Linux& os, Task& t) override { return stream_->close_writing(os, t); }
};

}  // namespace

// Opens two descriptors and writes them to `to`; on an error opens neither.
Work calls::give_pair(Linux& os, Task& t, OpenFileRef first, OpenFileRef second, uint64_t to,
                      uint64_t flags) {
  const uint64_t limit = os.limits.descriptors();
  const int64_t first_number = os.files.open(first, limit, flags);
  if (first_number < 0) co_return first_number;
  const int64_t second_number = os.files.open(second, limit, flags);
  const int32_t numbers[2] = {static_cast<int32_t>(first_number),
                              static_cast<int32_t>(second_number)};
  const int64_t error =
      second_number < 0 ? second_number : co_await os.memory.write(t, numbers, to);
  if (error == 0) co_return 0;
  os.files.set(static_cast<uint64_t>(first_number), {});
  if (second_number >= 0) os.files.set(static_cast<uint64_t>(second_number), {});
  co_return error;
}

int64_t calls::resize_pipe(const OpenFileRef& file, bool sets, uint32_t bytes) {
  constexpr uint32_t kPage = AddressSpace::kPage, kMaxPipeBytes = 1 << 20;  // fs.pipe-max-size
  const auto pipe = file.as<PipeEnd>();
  if (!pipe) return -EBADF;
  Stream& stream = pipe->stream();
  if (!sets) return static_cast<int64_t>(stream.room());
  if (bytes > uint32_t{1} << 31) return -EINVAL;
  const std::size_t room = std::bit_ceil(std::max(bytes, kPage));
  if (room > kMaxPipeBytes && room > stream.room()) return -EPERM;
  if (room < stream.filled_bytes()) return -EBUSY;
  stream.set_room(room);
  return static_cast<int64_t>(room);
}

Work calls::pipe2(Linux& os, Task& t) {
  if (static_cast<uint32_t>(t.args[1]) & ~(O_NONBLOCK | O_CLOEXEC | O_DIRECT)) co_return -EINVAL;
  const auto stream = std::make_shared<Stream>(kPipeBytes, Stream::Kind::pages);
  const uint64_t flags = t.args[1] & O_NONBLOCK;
  const auto reader = std::make_shared<ReadEnd>(stream, O_RDONLY | flags);
  const auto writer = std::make_shared<WriteEnd>(stream, O_WRONLY | flags | (t.args[1] & O_DIRECT));
  stream->reader = reader, stream->writer = writer;
  co_return co_await give_pair(os, t, reader, writer, t.args[0], t.args[1]);
}

}  // namespace uncore
