// An open file, like Linux's struct file. It is read, written and waited for through one or more
// descriptors (dup makes further ones).
//
// Interface: each kind of file is a class that defines how it is read, written and polled.
// Invariant: calls use a file only through an OpenFileRef, which keeps it alive even if its
// descriptors are closed while the call waits. So an OpenFileRef does not convert to a pointer.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "os/inode.hh"
#include "os/wait_queue.hh"
#include "os/work.hh"

namespace uncore {

class Linux;
struct Task;

enum : uint64_t {
  O_RDONLY = 0,
  O_WRONLY = 1,
  O_RDWR = 2,
  O_ACCMODE = 3,
  O_CREAT = 0x40,
  O_EXCL = 0x80,
  O_NOCTTY = 0x100,
  O_TRUNC = 0x200,
  O_APPEND = 0x400,
  O_NONBLOCK = 0x800,
  FASYNC = 0x2000,
  O_DIRECT = 0x4000,
  O_LARGEFILE = 0x8000,  // set by every open on a 64-bit kernel
  O_DIRECTORY = 0x10000,
  O_NOFOLLOW = 0x20000,
  O_NOATIME = 0x40000,
  O_CLOEXEC = 0x80000,
  O_PATH = 0x200000,
  O_TMPFILE = 0x400000 | O_DIRECTORY,
};

// The host's <sys/stat.h> defines these, too, as macros.
#undef S_IFMT
#undef S_IFIFO
#undef S_IFSOCK
enum : uint32_t { S_IFMT = 0170000, S_IFIFO = 0010000, S_IFSOCK = 0140000 };
// The poll events of a readable, or writable, file of most kinds.
inline constexpr uint16_t kReadable = POLLIN | POLLRDNORM, kWritable = POLLOUT | POLLWRNORM;

// Returns the requested poll events for which a file is ready. POLLERR and POLLHUP are always
// requested.
constexpr uint16_t answered(uint16_t wanted, uint16_t ready) {
  return (wanted | POLLERR | POLLHUP) & ready;
}

struct Stat {  // struct stat of riscv64
  uint64_t device = 1, number = 0;
  uint32_t mode = 0, links = 1, user = 0, group = 0;
  uint64_t of_device = 0, pad = 0;
  int64_t size = 0;
  int32_t block = 4096, pad2 = 0;
  int64_t blocks = 0;
  int64_t times[6] = {};
  uint32_t unused[2] = {};

  static Stat of(const Inode& inode);
};
static_assert(sizeof(Stat) == 128);

struct UserBuffer {  // struct iovec
  uint64_t address, size;
};
using UserBuffers = std::vector<UserBuffer>;

class OpenFile {
 public:
  // Most bytes of one read or write (MAX_RW_COUNT), and of one of a device: for more, programs call
  // again.
  static constexpr uint64_t kMaxTransfer = 0x7ffff000, kMaxDeviceTransfer = 1 << 16;

  explicit OpenFile(uint64_t flags) : flags(flags) {}
  virtual ~OpenFile() = default;

  // read() and write() return what read(2) and write(2) return. `offset` is the offset in the file,
  // which they advance.
  virtual Work read(Linux& os, Task& t, UserBuffer to, uint64_t& offset) = 0;
  virtual Work write(Linux& os, Task& t, UserBuffer from, uint64_t& offset) = 0;
  virtual Stat stat() const = 0;
  // Returns the poll events for which the file is ready, which for a signalfd depend on the task.
  // A change of them is reported to the waiters in waits().
  virtual uint16_t poll(const Task&) const { return kReadable | kWritable; }
  virtual WaitQueue& waits() { return ready; }
  virtual bool is_watchable() const { return true; }  // true if an epoll can watch the file
  // Called when the last descriptor has been closed. A call on the file may still be under way.
  virtual Work hang_up(Linux&, Task&) { co_return 0; }
  // Returns the file's inode, or null if it has none, like a pipe or a socket.
  virtual const InodeRef& inode() const {
    static const InodeRef no_inode;
    return no_inode;
  }
  virtual bool is_seekable() const { return false; }
  // Return false if files of this kind have no read, or write, operation (Linux's FMODE_CAN_READ,
  // FMODE_CAN_WRITE).
  virtual bool can_read() const { return true; }
  virtual bool can_write() const { return true; }

  // Returns the number of bytes that can be read now (FIONREAD); negative if the kind of file does
  // not support that.
  virtual int64_t readable_bytes() const { return -1; }

  // Return whether the file was opened for reading, or for writing (FMODE_READ, FMODE_WRITE).
  bool reads() const { return (flags & O_ACCMODE) == O_RDONLY || (flags & O_ACCMODE) == O_RDWR; }
  bool writes() const { return (flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR; }
  // Returns whether the file has Linux's anonymous inode, like an eventfd or an epoll: it has no
  // file type, owner or path.
  bool is_anonymous() const { return !inode() && (stat().mode & S_IFMT) == 0; }
  bool is_regular() const { return inode() && inode()->kind == Inode::Kind::file; }

  uint64_t flags;
  uint64_t offset = 0;
  uint32_t descriptors = 0;
  WaitQueue ready;
};

class OpenFileRef {
 public:
  OpenFileRef() = default;
  template <std::derived_from<OpenFile> Kind>
  OpenFileRef(std::shared_ptr<Kind> file) : file_(std::move(file)) {}

  explicit operator bool() const { return file_ != nullptr; }
  bool operator==(const OpenFileRef&) const = default;
  // Returns the file if it is of this kind, else null.
  template <std::derived_from<OpenFile> Kind>
  std::shared_ptr<Kind> as() const {
    return std::dynamic_pointer_cast<Kind>(file_);
  }
  OpenFile* operator->() const { return file_.get(); }
  const OpenFile& operator*() const { return *file_; }

 private:
  std::shared_ptr<OpenFile> file_;
};
using OpenFileRefs = std::vector<OpenFileRef>;

}  // namespace uncore
