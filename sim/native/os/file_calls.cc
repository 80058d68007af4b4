// System calls on open files.
#include <algorithm>
#include <array>

#include "os/calls.hh"
#include "os/file_lock.hh"
#include "os/socket.hh"
#include "os/tree_file.hh"

namespace uncore::calls {
namespace {

// Calls transfer() for each part of the call's iovec array, until a transfer is incomplete. Returns
// the number of bytes transferred, or an error if there are none.
template <class Transfer>
Work each(Linux& os, Task& t, Transfer transfer) {
  UserBuffers parts;
  const int64_t failed = co_await read_parts(os, t, t.args[1], t.args[2], parts);
  if (failed < 0) co_return failed;
  int64_t done = 0;
  for (const UserBuffer& part : parts) {
    if (part.size == 0) continue;
    const int64_t moved = co_await transfer(part);
    if (moved < 0) co_return done ? done : moved;
    done += moved;
    if (static_cast<uint64_t>(moved) < part.size) break;
  }
  co_return done;
}

// Finds the file for a call with an explicit offset (pread64 and its like). It must have an inode,
// because pipes and sockets have no offsets.
Work at_place(Linux& os, Task& t, OpenFileRef& file) {
  if (static_cast<int64_t>(t.args[3]) < 0) co_return -EINVAL;
  file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  co_return file->inode() ? 0 : -ESPIPE;
}

}  // namespace

// Reads and checks all parts, before the caller uses any of them.
Work read_parts(Linux& os, Task& t, uint64_t from, uint64_t many, UserBuffers& parts) {
  if (many > kMostParts) co_return -EINVAL;
  for (uint64_t i = 0; i < many; ++i) {
    UserBuffer part{};
    const int64_t failed = co_await os.memory.read(t, from + i * sizeof part, part);
    if (failed < 0) co_return failed;
    if (static_cast<int64_t>(part.size) < 0) co_return -EINVAL;
    if (!UserMemory::is_range(part.address, part.size)) co_return -EFAULT;
    parts.push_back(part);
  }
  co_return 0;
}

Work read(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!UserMemory::is_range(t.args[1], t.args[2])) co_return -EFAULT;
  co_return co_await file->read(os, t, {t.args[1], t.args[2]}, file->offset);
}

// A socket fills all parts from one message; any other file is read part by part.
Work readv(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (const auto socket = file.as<Socket>()) {
    UserBuffers parts;
    const int64_t failed = co_await read_parts(os, t, t.args[1], t.args[2], parts);
    co_return failed < 0 ? failed : co_await socket->read_all(os, t, parts);
  }
  const auto transfer = [&](UserBuffer part) { return file->read(os, t, part, file->offset); };
  co_return co_await each(os, t, transfer);
}

Work pread64(Linux& os, Task& t) {
  OpenFileRef file;
  const int64_t failed = co_await at_place(os, t, file);
  if (failed < 0) co_return failed;
  if (!UserMemory::is_range(t.args[1], t.args[2])) co_return -EFAULT;
  uint64_t at = t.args[3];
  co_return co_await file->read(os, t, {t.args[1], t.args[2]}, at);
}

Work preadv(Linux& os, Task& t) {
  OpenFileRef file;
  const int64_t failed = co_await at_place(os, t, file);
  if (failed < 0) co_return failed;
  uint64_t at = t.args[3];
  const auto transfer = [&](UserBuffer part) { return file->read(os, t, part, at); };
  co_return co_await each(os, t, transfer);
}

Work write(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!UserMemory::is_range(t.args[1], t.args[2])) co_return -EFAULT;
  co_return co_await file->write(os, t, {t.args[1], t.args[2]}, file->offset);
}

Work writev(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (const auto socket = file.as<Socket>()) {
    UserBuffers parts;
    const int64_t failed = co_await read_parts(os, t, t.args[1], t.args[2], parts);
    co_return failed < 0 ? failed : co_await socket->write_all(os, t, parts);
  }
  const auto transfer = [&](UserBuffer part) { return file->write(os, t, part, file->offset); };
  co_return co_await each(os, t, transfer);
}

Work pwrite64(Linux& os, Task& t) {
  OpenFileRef file;
  const int64_t failed = co_await at_place(os, t, file);
  if (failed < 0) co_return failed;
  if (!UserMemory::is_range(t.args[1], t.args[2])) co_return -EFAULT;
  uint64_t at = t.args[3];
  co_return co_await file->write(os, t, {t.args[1], t.args[2]}, at);
}

Work pwritev(Linux& os, Task& t) {
  OpenFileRef file;
  const int64_t failed = co_await at_place(os, t, file);
  if (failed < 0) co_return failed;
  uint64_t at = t.args[3];
  const auto transfer = [&](UserBuffer part) { return file->write(os, t, part, at); };
  co_return co_await each(os, t, transfer);
}

namespace {
// Makes the descriptor refer to `file`, or closes it if `file` is null. Hangs up its former file if
// no other descriptor refers to that.
Work replace(Linux& os, Task& t, uint64_t descriptor, OpenFileRef file) {
  const OpenFileRef before = os.files.set(descriptor, file);
  if (before && before->descriptors == 0) co_await before->hang_up(os, t);
  co_return static_cast<int64_t>(descriptor);
}
}  // namespace

Work close(Linux& os, Task& t) {
  if (!os.files.at(t.args[0])) co_return -EBADF;
  co_await replace(os, t, t.args[0], {});
  co_return 0;
}

Work dup(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  co_return os.files.open(file, os.limits.descriptors());
}

Work dup3(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (t.args[0] == t.args[1] || (t.args[2] & ~uint64_t{O_CLOEXEC})) co_return -EINVAL;
  if (!file || t.args[1] >= os.limits.descriptors()) co_return -EBADF;
  co_return co_await replace(os, t, t.args[1], file);
}

namespace {
// Returns the offset that lseek adds to, for SEEK_SET, SEEK_CUR or SEEK_END.
uint64_t seek_base(const OpenFile& file, const FileData& data, uint64_t whence) {
  if (whence == 0) return 0;
  return whence == 1 ? file.offset : data.size();
}
}  // namespace
Work lseek(Linux& os, Task& t) {
  enum : uint64_t { SEEK_END_ = 2, SEEK_DATA_ = 3, SEEK_HOLE_ = 4 };
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (t.args[2] > SEEK_HOLE_) co_return -EINVAL;
  if (!file->inode()) co_return -ESPIPE;
  if (!file->is_seekable()) co_return 0;
  const FileData& data = file->inode()->data;
  if (t.args[2] > SEEK_END_) {
    const bool hole = t.args[2] == SEEK_HOLE_;
    if (t.args[1] >= data.size()) co_return -ENXIO;
    const uint64_t found = hole ? data.next_hole(t.args[1]) : data.next_data(t.args[1]);
    if (!hole && found == data.size()) co_return -ENXIO;
    file->offset = found;
    co_return static_cast<int64_t>(found);
  }
  const auto next = static_cast<int64_t>(seek_base(*file, data, t.args[2]) + t.args[1]);
  if (next < 0) co_return -EINVAL;
  file->offset = static_cast<uint64_t>(next);
  co_return next;
}

Work ftruncate(Linux& os, Task& t) {
  if (static_cast<int64_t>(t.args[1]) < 0) co_return -EINVAL;
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!file->is_seekable() || (file->flags & O_ACCMODE) == O_RDONLY) co_return -EINVAL;
  co_return resize(os, t, *file->inode(), t.args[1]);
}

// Allocating space takes no memory, because pages of a file are created when they are written. So
// fallocate only has to grow the file, if that is asked for.
Work fallocate(Linux& os, Task& t) {
  constexpr uint64_t FALLOC_FL_KEEP_SIZE = 1;
  constexpr int64_t kNotSupported = 95;  // EOPNOTSUPP
  constexpr uint32_t kKind = 0170000, kPipe = 0010000;
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (static_cast<int64_t>(t.args[2]) < 0 || static_cast<int64_t>(t.args[3]) <= 0)
    co_return -EINVAL;
  if (t.args[1] & ~FALLOC_FL_KEEP_SIZE) co_return -kNotSupported;
  if ((file->flags & O_ACCMODE) == O_RDONLY) co_return -EBADF;
  if ((file->stat().mode & kKind) == kPipe) co_return -ESPIPE;
  if (!file->is_seekable()) co_return -ENODEV;
  const uint64_t end = t.args[2] + t.args[3];
  if (t.args[1] || end <= file->inode()->data.size()) co_return 0;
  co_return resize(os, t, *file->inode(), end);
}

// Grants the lock at once if the file has no inode, because then no other open file can conflict.
Work flock(Linux& os, Task& t) {
  enum : uint64_t { LOCK_SH = 1, LOCK_EX = 2, LOCK_NB = 4, LOCK_UN = 8 };
  const uint64_t what = t.args[1] & ~LOCK_NB;
  const OpenFileRef file = os.files.at(t.args[0]);
  if (what != LOCK_SH && what != LOCK_EX && what != LOCK_UN) co_return -EINVAL;
  if (!file) co_return -EBADF;
  if (!file->inode()) co_return 0;
  std::shared_ptr<FileLock>& lock_of = file->inode()->lock;
  if (!lock_of) lock_of = std::make_shared<FileLock>();
  const std::shared_ptr<FileLock> lock = lock_of;
  const bool alone = what == LOCK_EX;
  if (what != LOCK_UN && lock->held_by(*file) && lock->is_alone() == alone) co_return 0;
  co_await unlock(os, t, *file);
  if (what == LOCK_UN || lock->take(*file, alone)) co_return 0;
  if (t.args[1] & LOCK_NB) co_return -EAGAIN;
  const WaitQueue::Member waits(lock->waits, t);
  const int64_t failed =
      co_await os.signals.wait(t, kNever, [&] { return lock->take(*file, alone); });
  if (failed == 0 && file->descriptors == 0) co_await unlock(os, t, *file);
  co_return failed;
}

// These calls do nothing but check the descriptor: there is no disk, and owners are not stored.
namespace {
Work is_open(Linux& os, Task& t) { co_return os.files.at(t.args[0]) ? 0 : -EBADF; }
}  // namespace
Work fsync(Linux& os, Task& t) { co_return co_await is_open(os, t); }
Work fdatasync(Linux& os, Task& t) { co_return co_await is_open(os, t); }
Work fadvise64(Linux& os, Task& t) { co_return co_await is_open(os, t); }
Work fchown(Linux& os, Task& t) { co_return co_await is_open(os, t); }

Work fchmod(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!file->inode()) co_return 0;
  if (file->inode()->sealed) co_return -EROFS;
  file->inode()->mode = static_cast<uint32_t>(t.args[1] & 07777);
  co_return 0;
}

Work fstat(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  const Stat s = file->stat();
  co_return co_await os.memory.write(t, s, t.args[1]);
}

// Ignores close-on-exec, because there is no exec.
Work fcntl(Linux& os, Task& t) {
  enum : uint64_t { F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW };
  constexpr uint64_t F_DUPFD_CLOEXEC = 1030, kChanging = O_NONBLOCK | O_APPEND;
  constexpr uint64_t F_UNLCK = 2;
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  switch (t.args[1]) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      if (t.args[2] >= os.limits.descriptors()) co_return -EINVAL;
      co_return os.files.open(file, os.limits.descriptors(), t.args[2]);
    case F_GETFL:
      co_return static_cast<int64_t>(file->flags);
    case F_SETFL:
      file->flags = (file->flags & ~kChanging) | (t.args[2] & kChanging);
      co_return 0;
    case F_GETFD:
    case F_SETFD:
    case F_SETLK:  // always succeeds: a process does not conflict with its own record locks
    case F_SETLKW:
      co_return 0;
    case F_GETLK:
      co_return co_await os.memory.put(t, t.args[2], F_UNLCK, 2);
    default:
      co_return -EINVAL;
  }
}

// Fails, because no file is a terminal.
Work ioctl(Linux& os, Task& t) { co_return os.files.at(t.args[0]) ? -ENOTTY : -EBADF; }

}  // namespace uncore::calls
