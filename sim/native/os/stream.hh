// Bytes between a writer and a reader: a pipe, or one direction of a connection. Datagrams keep
// their bounds.
//
// Interface: receive() and send() for the files at its ends, which it knows as `reader` and
// `writer`; close_reading(), close_writing(). Invariant: it holds at most `room` bytes, or one
// datagram.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "os/open_file.hh"

namespace uncore {

class Stream {
 public:
  static constexpr std::size_t kPipeBuf = 4096;  // PIPE_BUF: up to this size a write is atomic

  struct How {
    bool waits = true;    // false: -EAGAIN instead
    bool keeps = false;   // MSG_PEEK
    bool fills = false;   // MSG_WAITALL
    bool signals = true;  // SIGPIPE if nobody reads
    bool looks = false;   // of no bytes: tells if there are some, as recv does
  };
  // Results of a read besides the bytes.
  struct Got {
    std::string from;       // the sender's address
    std::size_t whole = 0;  // bytes of the datagram, even if some did not fit
  };

  Stream(std::size_t room, bool datagrams) : room_(room), datagrams_(datagrams) {}

  std::weak_ptr<OpenFile> reader, writer;

  // Return what read(2) and write(2) return. `self`: the file that reads or writes; tasks wait at
  // it.
  Work receive(Linux& os, Task& t, OpenFile& self, UserBuffers to, How how, Got& got);
  Work send(Linux& os, Task& t, OpenFile& self, UserBuffers from, How how, std::string sender);
  // Close the end where nobody reads, or writes, any more. Wake tasks at the other end.
  Work close_reading(Linux& os, Task& t);
  Work close_writing(Linux& os, Task& t);
  // Lets the reader get -ECONNRESET once, after the bytes that are there: the writer has gone
  // without reading all that was sent to it.
  void reset() { reset_ = true; }
  bool is_reset() const { return reset_; }
  bool take_reset() { return std::exchange(reset_, false); }

  std::size_t room() const { return room_; }
  void set_room(std::size_t room) { room_ = room; }
  bool is_unread() const { return unread_; }  // nobody reads any more
  bool is_ended() const { return ended_; }    // nobody writes any more
  bool has_some() const { return !parts_.empty(); }
  bool has_room(std::size_t size) const { return bytes_ + size <= room_ || bytes_ == 0; }
  std::size_t bytes() const {
    return datagrams_ && has_some() ? parts_.front().bytes.size() : bytes_;
  }

 private:
  struct Part {
    std::string bytes, from;
  };

  std::string take(std::size_t most, bool keeps, Got& got);
  Work deliver(Linux& os, Task& t, const UserBuffers& to, uint64_t at, bool keeps, Got& got);
  Work tell(Linux& os, Task& t, const std::weak_ptr<OpenFile>& whom, uint16_t events);

  std::size_t room_;
  const bool datagrams_;
  std::deque<Part> parts_;
  std::size_t bytes_ = 0;
  bool unread_ = false, ended_ = false, reset_ = false;
};

}  // namespace uncore
