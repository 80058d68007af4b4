// A buffer of bytes between a writer and a reader: a pipe, or one direction of a connection. A
// stream of datagrams preserves their boundaries, and a pipe consists of pages, as in Linux.
//
// Interface: the files at its ends, to which `reader` and `writer` refer, call receive() and
// send(); close_reading() and close_writing() close an end. Invariant: it holds at most `room`
// bytes; a pipe holds at most as many pages as `room` has, full or not. A datagram may be sent
// while the buffers of those that wait take less than `room`.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "os/open_file.hh"

namespace uncore {

class Stream {
 public:
  static constexpr std::size_t kPipeBuf = 4096;  // PIPE_BUF: up to this size a write is atomic

  enum class Kind : uint8_t { bytes, datagrams, pages };

  struct IoOptions {
    bool waits = true;           // false: returns -EAGAIN instead of waiting
    bool peeks = false;          // MSG_PEEK
    bool waits_for_all = false;  // MSG_WAITALL
    bool signals = true;         // false: no SIGPIPE if the reading end is closed (MSG_NOSIGNAL)
    bool waits_if_zero = false;  // true: a receive of 0 bytes waits for data, as recv does
    bool packs = false;          // true: each page that is written is read alone (O_DIRECT)
    bool is_signed = false;      // true: what is sent tells its sender's credentials
    bool by_sender = false;      // true: a receive does not join messages with and without these
  };
  // Results of a receive besides the bytes.
  struct ReceiveResult {
    std::string from;           // the sender's present address
    std::size_t full_size = 0;  // the datagram's full size, even if it did not fit
    // The files that the message carried, which the receiver now holds (FilesInFlight).
    OpenFileRefs files;
    std::optional<bool> is_signed;  // true if the bytes tell their sender's credentials
    bool is_complete = false;       // true: nothing further can be received by the same call
  };

  Stream(std::size_t room, Kind kind)
      : room_(room), datagrams_(kind == Kind::datagrams), pages_(kind == Kind::pages) {}

  std::weak_ptr<OpenFile> reader, writer;

  // receive() and send() return what read(2) and write(2) return. `self` is the file that reads or
  // writes, in whose queue the calling task waits. send() takes the files if it has sent anything.
  // `sender` is the sender's address, of which a receive tells the value at its own time.
  Work receive(Linux& os, Task& t, OpenFile& self, UserBuffers to, IoOptions io_options,
               ReceiveResult& received);
  Work send(Linux& os, Task& t, OpenFile& self, UserBuffers from, IoOptions io_options,
            std::shared_ptr<const std::string> sender, OpenFileRefs& files);
  // These close the reading or the writing end, and wake the tasks that wait at the other end.
  Work close_reading(Linux& os, Task& t);
  Work close_writing(Linux& os, Task& t);
  // Makes a call of the reader fail once with this error; a receive of bytes, after those that are
  // still there. One error is kept, the last, as in Linux (sk_err). take_error() returns it,
  // negative, and forgets it; 0 if there is none.
  void fail(int32_t error) { error_ = error; }
  bool has_error() const { return error_ != 0; }
  int64_t take_error() { return -std::exchange(error_, 0); }

  // Returns whether there is a message with files, and calls visit(file) for each.
  bool carries_files() const;
  void each_file(const std::function<void(const OpenFileRef&)>& visit) const;
  // Takes the files out of all messages; clear() also removes the messages.
  OpenFileRefs take_files();
  OpenFileRefs clear();

  std::size_t room() const { return room_; }
  void set_room(std::size_t room) { room_ = room; }
  bool is_reader_closed() const { return reader_closed_; }  // the reading end is closed
  bool is_writer_closed() const { return writer_closed_; }  // the writing end is closed
  bool has_some() const { return !parts_.empty(); }
  // Returns whether a reader that closes a connection now has left something unread. Like Linux,
  // does not count one message without bytes.
  bool has_unread() const {
    return parts_.size() > 1 || (has_some() && !parts_.front().bytes.empty());
  }
  bool has_room(std::size_t size) const {
    if (datagrams_) return bytes_ < room_;
    return filled_bytes() + (pages_ ? kPipeBuf : size) <= room_ || bytes_ == 0;
  }
  // Returns how much of the room is taken.
  std::size_t filled_bytes() const { return pages_ ? parts_.size() * kPipeBuf : bytes_; }
  std::size_t bytes() const {
    return datagrams_ && has_some() ? parts_.front().bytes.size() : bytes_;
  }

 private:
  struct Part {
    std::string bytes;
    std::shared_ptr<const std::string> from;
    std::size_t taken = 0;  // number of bytes of the page that were read and removed
    bool packed = false;    // it is read alone, and the bytes that the reader leaves are lost
    bool is_signed = false;
    OpenFileRefs files{};
  };

  bool can_join(std::size_t size) const;
  // Returns how many of a range of the reader's bytes, from its beginning, can be written.
  using Writable = std::function<std::size_t(std::size_t offset, std::size_t size)>;
  std::string take(std::size_t max_bytes, const Writable& writable, const IoOptions& io_options,
                   ReceiveResult& received, std::optional<std::string>& torn);
  Work deliver(Linux& os, Task& t, const UserBuffers& to, uint64_t offset, IoOptions io_options,
               ReceiveResult& received);
  Work notify(Linux& os, Task& t, const std::weak_ptr<OpenFile>& waiter, uint16_t events);

  std::size_t room_;
  const bool datagrams_, pages_;
  std::deque<Part> parts_;
  std::size_t bytes_ = 0;  // in the stream, or in buffers of datagrams
  int32_t error_ = 0;
  bool reader_closed_ = false, writer_closed_ = false;
};

}  // namespace uncore
