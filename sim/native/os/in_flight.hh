// The files that messages between sockets carry (SCM_RIGHTS) until they are received or dropped.
//
// Interface: hold() and drop() count references of messages; a stream tells of the files that enter
// it (sent()) and leave it (taken()). finish() closes what nobody refers to any more, at the end of
// a system call, as Linux's delayed fput does; so a chain of sockets that carry each other is
// closed link by link, without recursion. Invariant: a reference of a message counts in the file's
// `descriptors`, so the file is open. No more files are in flight than the limit of descriptors and
// one message allow (ETOOMANYREFS).
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "os/open_file.hh"

namespace uncore {

class FilesInFlight {
 public:
  static constexpr std::size_t kMostOfMessage = 253;  // SCM_MAX_FD

  std::size_t count() const { return count_; }
  // Counts a reference to each file, as a descriptor is counted.
  static void hold(const OpenFileRefs& files);
  // Gives references up. finish() closes the files that were held by nothing else.
  void drop(OpenFileRefs files);
  // Does the same for files of messages that nobody will receive.
  void drop_unread(OpenFileRefs files);
  // Tells that a message for the socket `reader` carries files, or that these have been received.
  void sent(const std::shared_ptr<OpenFile>& reader, std::size_t files);
  void taken(std::size_t files) { count_ -= files; }
  // Tells that a socket has been closed. Others may now be held by messages only, even by those in
  // their own queues, which are looked for when a socket is closed, as in Linux (unix_gc).
  void closed_socket() { may_have_cycles_ = count_ > 0; }

  bool has_work() const { return !dropped_.empty() || (may_have_cycles_ && count_ > 0); }
  Work finish(Linux& os, Task& t);
  // Drops all files without closing them, because the process has ended.
  void clear();

 private:
  OpenFileRefs unreachable();

  std::vector<std::weak_ptr<OpenFile>> carriers_;  // sockets whose queues have messages with files
  std::deque<OpenFileRef> dropped_;
  std::size_t count_ = 0;  // files in messages that have been sent and not received
  bool may_have_cycles_ = false;
};

}  // namespace uncore
