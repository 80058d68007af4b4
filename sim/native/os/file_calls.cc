// System calls on open files.
#include <algorithm>
#include <array>

#include "os/calls.hh"
#include "os/file_lock.hh"
#include "os/socket.hh"
#include "os/tree_file.hh"

namespace uncore::calls {
namespace {

enum class Direction : uint8_t { read, write };

// Returns 0 if the file may be read, or written, else the error.
int64_t may_transfer(const OpenFileRef& file, Direction direction) {
  if (!file || !(direction == Direction::read ? file->reads() : file->writes())) return -EBADF;
  return (direction == Direction::read ? file->can_read() : file->can_write()) ? 0 : -EINVAL;
}
// Does the same for a call with an explicit offset, such as pread64. The file must have an inode.
int64_t may_transfer_at(const OpenFileRef& file, Direction direction, uint64_t offset) {
  if (static_cast<int64_t>(offset) < 0) return -EINVAL;
  if (!file) return -EBADF;
  return file->inode() ? may_transfer(file, direction) : -ESPIPE;
}

Work transfer(Linux& os, Task& t, OpenFileRef file, Direction direction, uint64_t& offset) {
  const UserBuffer buffer{t.args[1], t.args[2]};
  if (!UserMemory::is_range(buffer.address, buffer.size)) co_return -EFAULT;
  if (direction == Direction::read) co_return co_await file->read(os, t, buffer, offset);
  co_return co_await file->write(os, t, buffer, offset);
}

// Transfers the buffers of the call's iovec array in order, and stops after a partial transfer.
// Returns the number of bytes transferred, or an error.
Work transfer_parts(Linux& os, Task& t, OpenFileRef file, Direction direction, uint64_t& offset) {
  UserBuffers parts;
  const int64_t error = co_await read_parts(os, t, t.args[1], t.args[2], parts);
  if (error < 0) co_return error;
  const auto socket = file.as<Socket>();
  const bool empty = std::ranges::all_of(parts, [](const UserBuffer& p) { return p.size == 0; });
  if (empty) co_return 0;
  if (socket) {  // all buffers form one message
    if (direction == Direction::read) co_return co_await socket->read_all(os, t, parts);
    co_return co_await socket->write_all(os, t, parts);
  }
  int64_t total = 0;
  for (const UserBuffer& part : parts) {
    if (part.size == 0) continue;
    int64_t num_bytes = 0;
    if (direction == Direction::read)
      num_bytes = co_await file->read(os, t, part, offset);
    else
      num_bytes = co_await file->write(os, t, part, offset);
    if (num_bytes < 0) co_return total ? total : num_bytes;
    total += num_bytes;
    if (static_cast<uint64_t>(num_bytes) < part.size) break;
  }
  co_return total;
}

}  // namespace

// Reads and checks the whole iovec array before any of it is used (Linux's import_iovec).
Work read_parts(Linux& os, Task& t, uint64_t from, uint64_t count, UserBuffers& parts) {
  if (count > kMostParts) co_return -EINVAL;
  for (uint64_t i = 0; i < count; ++i) {
    UserBuffer part{};
    const int64_t error = co_await os.memory.read(t, from + i * sizeof part, part);
    if (error < 0) co_return error;
    if (static_cast<int64_t>(part.size) < 0) co_return -EINVAL;
    parts.push_back(part);
  }
  for (const UserBuffer& part : parts)
    if (!UserMemory::is_range(part.address, part.size)) co_return -EFAULT;
  co_return 0;
}

namespace {
Work at_file_offset(Linux& os, Task& t, Direction direction) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (const int64_t no = may_transfer(file, direction); no < 0) co_return no;
  co_return co_await transfer(os, t, file, direction, file->offset);
}
Work at_given_offset(Linux& os, Task& t, Direction direction) {
  const OpenFileRef file = os.files.at(t.args[0]);
  uint64_t offset = t.args[3];
  if (const int64_t no = may_transfer_at(file, direction, offset); no < 0) co_return no;
  co_return co_await transfer(os, t, file, direction, offset);
}
Work parts_at_file_offset(Linux& os, Task& t, Direction direction) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (const int64_t no = may_transfer(file, direction); no < 0) co_return no;
  co_return co_await transfer_parts(os, t, file, direction, file->offset);
}
Work parts_at_given_offset(Linux& os, Task& t, Direction direction) {
  const OpenFileRef file = os.files.at(t.args[0]);
  uint64_t offset = t.args[3];
  if (const int64_t no = may_transfer_at(file, direction, offset); no < 0) co_return no;
  co_return co_await transfer_parts(os, t, file, direction, offset);
}
}  // namespace
Work read(Linux& os, Task& t) { co_return co_await at_file_offset(os, t, Direction::read); }
Work readv(Linux& os, Task& t) { co_return co_await parts_at_file_offset(os, t, Direction::read); }
Work pread64(Linux& os, Task& t) { co_return co_await at_given_offset(os, t, Direction::read); }
Work preadv(Linux& os, Task& t) {
  co_return co_await parts_at_given_offset(os, t, Direction::read);
}
Work write(Linux& os, Task& t) { co_return co_await at_file_offset(os, t, Direction::write); }
Work writev(Linux& os, Task& t) {
  co_return co_await parts_at_file_offset(os, t, Direction::write);
}
Work pwrite64(Linux& os, Task& t) { co_return co_await at_given_offset(os, t, Direction::write); }
Work pwritev(Linux& os, Task& t) {
  co_return co_await parts_at_given_offset(os, t, Direction::write);
}

namespace {
// Makes the descriptor refer to `file`; null closes it. Hangs up the former file if this was its
// last descriptor.
Work replace(Linux& os, Task& t, uint64_t descriptor, OpenFileRef file, uint64_t flags) {
  const OpenFileRef former = os.files.set(static_cast<uint32_t>(descriptor), file, flags);
  if (former && former->descriptors == 0) co_await former->hang_up(os, t);
  co_return static_cast<int64_t>(descriptor);
}
}  // namespace

Work close(Linux& os, Task& t) {
  if (!os.files.any_at(t.args[0])) co_return -EBADF;
  co_await replace(os, t, t.args[0], {}, 0);
  co_return 0;
}

Work dup(Linux& os, Task& t) {
  const OpenFileRef file = os.files.any_at(t.args[0]);
  if (!file) co_return -EBADF;
  co_return os.files.open(file, os.limits.descriptors());
}

Work dup3(Linux& os, Task& t) {
  const OpenFileRef file = os.files.any_at(t.args[0]);
  const auto from = static_cast<uint32_t>(t.args[0]), to = static_cast<uint32_t>(t.args[1]);
  if (from == to || (static_cast<uint32_t>(t.args[2]) & ~O_CLOEXEC)) co_return -EINVAL;
  if (!file || to >= os.limits.descriptors()) co_return -EBADF;
  co_return co_await replace(os, t, to, file, t.args[2]);
}

namespace {
// Returns the offset that lseek adds to, for SEEK_SET, SEEK_CUR or SEEK_END.
uint64_t seek_base(const OpenFile& file, const FileData& data, uint64_t whence) {
  if (whence == 0) return 0;
  return whence == 1 ? file.offset : data.size();
}
}  // namespace
// Returns the offset of the first data, or hole, at or after `from` (SEEK_DATA, SEEK_HOLE).
int64_t seek_data(const FileData& data, uint64_t from, bool hole) {
  if (from >= data.size()) return -ENXIO;
  const uint64_t found = hole ? data.next_hole(from) : data.next_data(from);
  return !hole && found == data.size() ? -ENXIO : static_cast<int64_t>(found);
}
Work lseek(Linux& os, Task& t) {
  enum : uint32_t { SEEK_CUR_ = 1, SEEK_END_ = 2, SEEK_DATA_ = 3, SEEK_HOLE_ = 4 };
  const OpenFileRef file = os.files.at(t.args[0]);
  const auto whence = static_cast<uint32_t>(t.args[2]);
  if (!file) co_return -EBADF;
  if (whence > SEEK_HOLE_) co_return -EINVAL;
  if (file->is_anonymous()) co_return 0;
  if (!file->inode()) co_return -ESPIPE;
  if (!file->is_seekable()) co_return 0;
  if (file->inode()->is_directory() && whence > SEEK_CUR_) co_return -EINVAL;
  const FileData& data = file->inode()->data;
  const int64_t next = whence > SEEK_END_
                           ? seek_data(data, t.args[1], whence == SEEK_HOLE_)
                           : static_cast<int64_t>(seek_base(*file, data, whence) + t.args[1]);
  if (next < 0) co_return whence > SEEK_END_ ? next : -EINVAL;
  file->offset = static_cast<uint64_t>(next);
  co_return next;
}

Work ftruncate(Linux& os, Task& t) {
  if (static_cast<int64_t>(t.args[1]) < 0) co_return -EINVAL;
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!file->is_regular() || !file->writes()) co_return -EINVAL;
  co_return co_await resize(os, t, file->inode(), t.args[1]);
}

namespace {
enum : uint32_t { kKeepSize = 1, kPunchHole = 2 };  // FALLOC_FL_
// True if Linux knows the mode; tmpfs then takes fewer.
bool is_mode(uint32_t mode) {
  constexpr uint32_t kCollapse = 8, kZero = 16, kInsert = 32, kUnshare = 64, kWriteZeroes = 128;
  const uint32_t what = mode & ~kKeepSize;
  if (mode & kKeepSize) return what == 0 || what == kPunchHole || what == kZero || what == kUnshare;
  return what == 0 || what == kCollapse || what == kZero || what == kInsert || what == kUnshare ||
         what == kWriteZeroes;
}
}  // namespace
// Allocates no memory: a page takes memory only when it is written. Modes that this file system
// does not support fail with -EOPNOTSUPP.
Work fallocate(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  const auto mode = static_cast<uint32_t>(t.args[1]);
  const auto begin = static_cast<int64_t>(t.args[2]), size = static_cast<int64_t>(t.args[3]);
  if (!file) co_return -EBADF;
  if (begin < 0 || size <= 0) co_return -EINVAL;
  if (!is_mode(mode)) co_return -EOPNOTSUPP;
  if (!file->writes()) co_return -EBADF;
  if ((file->stat().mode & S_IFMT) == S_IFIFO) co_return -ESPIPE;
  if (!file->is_regular()) co_return -ENODEV;
  const uint64_t end = t.args[2] + t.args[3];
  if (end > FileData::kMaxFileBytes) co_return -EFBIG;
  if (mode & ~(kKeepSize | kPunchHole)) co_return -EOPNOTSUPP;
  if (mode & kPunchHole) co_return co_await clear(os, t, file->inode(), t.args[2], end);
  const bool grows = end > file->inode()->data.size();
  if (grows && (file->inode()->seals & kSealGrowing)) co_return -EPERM;
  if (mode || end <= file->inode()->data.size()) co_return 0;
  co_return co_await resize(os, t, file->inode(), end);
}

// Grants the lock at once if the file has no inode, because then no other open file can conflict.
Work flock(Linux& os, Task& t) {
  enum : uint64_t { LOCK_SH = 1, LOCK_EX = 2, LOCK_NB = 4, LOCK_UN = 8, LOCK_MAND = 32 };
  const uint64_t operation = static_cast<uint32_t>(t.args[1]) & ~LOCK_NB;
  const OpenFileRef file = os.files.at(t.args[0]);
  if (operation & LOCK_MAND) co_return 0;  // Linux has dropped LOCK_MAND: it ignores such a call
  if (operation != LOCK_SH && operation != LOCK_EX && operation != LOCK_UN) co_return -EINVAL;
  if (!file || (operation != LOCK_UN && !file->reads() && !file->writes())) co_return -EBADF;
  if (!file->inode()) co_return 0;
  std::shared_ptr<FileLock>& lock_of = file->inode()->lock;
  if (!lock_of) lock_of = std::make_shared<FileLock>();
  const std::shared_ptr<FileLock> lock = lock_of;
  const bool exclusive = operation == LOCK_EX;
  if (operation != LOCK_UN && lock->held_by(*file) && lock->is_exclusive() == exclusive)
    co_return 0;
  co_await unlock(os, t, *file);
  if (operation == LOCK_UN || lock->take(*file, exclusive)) co_return 0;
  if (t.args[1] & LOCK_NB) co_return -EAGAIN;
  const WaitQueue::Member waits(lock->waits, t);
  const int64_t error =
      co_await os.signals.wait(t, kNever, [&] { return lock->take(*file, exclusive); });
  if (error == 0 && file->descriptors == 0) co_await unlock(os, t, *file);
  co_return error;
}

// Checks the descriptor only, because there is no disk.
Work fsync(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  co_return file->is_seekable() ? 0 : -EINVAL;
}
Work fdatasync(Linux& os, Task& t) { co_return co_await fsync(os, t); }

Work fadvise64(Linux& os, Task& t) {
  constexpr uint32_t kLastAdvice = 5;  // POSIX_FADV_NOREUSE
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if ((file->stat().mode & S_IFMT) == S_IFIFO) co_return -ESPIPE;
  if (static_cast<int64_t>(t.args[2]) < 0) co_return -EINVAL;
  co_return static_cast<uint32_t>(t.args[3]) > kLastAdvice ? -EINVAL : 0;
}

bool may_change_mode(const Inode& inode, uint64_t mode) {
  constexpr uint32_t kExecutable = 0111;
  return !(inode.seals & kSealExecution) || ((inode.mode ^ mode) & kExecutable) == 0;
}

// Checks the descriptor only: the owner of a file is not stored.
Work fchown(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (file->is_anonymous()) co_return -EOPNOTSUPP;
  co_return file->inode() && file->inode()->sealed ? -EROFS : 0;
}

Work fchmod(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (file->is_anonymous()) co_return -EOPNOTSUPP;
  if (!file->inode()) co_return 0;
  if (file->inode()->sealed) co_return -EROFS;
  if (!may_change_mode(*file->inode(), t.args[1])) co_return -EPERM;
  file->inode()->mode = static_cast<uint32_t>(t.args[1] & 07777);
  co_return 0;
}

Work fstat(Linux& os, Task& t) {
  const OpenFileRef file = os.files.any_at(t.args[0]);
  if (!file) co_return -EBADF;
  const Stat s = file->stat();
  co_return co_await os.memory.write(t, s, t.args[1]);
}

namespace {

enum : uint32_t {  // commands of fcntl
  F_DUPFD = 0,
  F_GETFD,
  F_SETFD,
  F_GETFL,
  F_SETFL,
  F_GETLK,
  F_SETLK,
  F_SETLKW,
  F_SETOWN,
  F_GETOWN,
  F_SETSIG,
  F_GETSIG,
  F_GETLEASE = 1025,
  F_DUPFD_CLOEXEC = 1030,
  F_SETPIPE_SZ,
  F_GETPIPE_SZ,
  F_ADD_SEALS,
  F_GET_SEALS,
};
constexpr uint64_t FD_CLOEXEC = 1;
constexpr uint16_t F_RDLCK = 0, F_WRLCK = 1, F_UNLCK = 2;

struct PartLock {  // struct flock
  uint16_t type, whence;
  uint32_t pad;
  int64_t begin, size;
  uint64_t process;
};

// Checks the struct flock at `from`. Returns 0, or the error of F_SETLK, or of F_GETLK if
// `is_getlk`.
int64_t may_lock(const Linux& os, const OpenFile& file, uint64_t from, bool is_getlk) {
  constexpr int64_t kMaxOffset = INT64_MAX;
  constexpr uint16_t kFromOffset = 1, kFromEnd = 2;  // SEEK_CUR, SEEK_END
  PartLock lock{};
  if (!os.memory.peek(from, {reinterpret_cast<uint8_t*>(&lock), sizeof lock})) return -EFAULT;
  if (is_getlk && lock.type != F_RDLCK && lock.type != F_WRLCK) return -EINVAL;
  int64_t base = 0;
  if (lock.whence == kFromOffset) base = static_cast<int64_t>(file.offset);
  if (lock.whence == kFromEnd) base = file.stat().size;
  if (lock.whence > kFromEnd) return -EINVAL;
  if (lock.begin > kMaxOffset - base) return -EOVERFLOW;
  if (base + lock.begin < 0) return -EINVAL;
  if (lock.size > 0 && lock.size - 1 > kMaxOffset - base - lock.begin) return -EOVERFLOW;
  if (lock.size < 0 && base + lock.begin + lock.size < 0) return -EINVAL;
  if (lock.type > F_UNLCK) return -EINVAL;
  if (is_getlk) return 0;
  if (lock.type == F_RDLCK && !file.reads()) return -EBADF;
  return lock.type == F_WRLCK && !file.writes() ? -EBADF : 0;
}

// Adds seals to a file (memfd_add_seals).
int64_t add_seals(const Linux& os, const OpenFile& file, uint32_t seals) {
  constexpr uint32_t kAll = 63, kExecutable = 0111;
  if (!file.writes()) return -EPERM;
  if (seals & ~kAll) return -EINVAL;
  if (!file.is_regular()) return -EINVAL;
  Inode& inode = *file.inode();
  if (inode.seals & kSealSeals) return -EPERM;
  if ((seals & kSealExecution) && (inode.mode & kExecutable))
    seals |= kSealShrinking | kSealGrowing | kSealWriting | kSealNewWriting;
  const bool is_mapped = os.memory.space.base_of(file.inode()).has_value();
  if ((seals & ~inode.seals & kSealWriting) && is_mapped) return -EBUSY;
  inode.seals |= seals;
  return 0;
}

int64_t set_flags(OpenFile& file, uint64_t flags) {
  const bool is_pipe = (file.stat().mode & S_IFMT) == S_IFIFO;
  uint64_t changing = O_NONBLOCK | O_APPEND | O_NOATIME | O_DIRECT;
  if ((flags & O_DIRECT) && !file.is_regular() && !is_pipe) return -EINVAL;
  if (!file.inode() && !file.is_anonymous()) changing |= FASYNC;
  file.flags = (file.flags & ~changing) | (flags & changing);
  return 0;
}

// Performs a command that fails with -EBADF on a file opened with O_PATH.
Work control(Linux& os, Task& t, OpenFileRef file) {
  const auto command = static_cast<uint32_t>(t.args[1]), number = static_cast<uint32_t>(t.args[2]);
  int64_t error = 0;
  switch (command) {
    case F_SETFL:
      co_return set_flags(*file.operator->(), t.args[2]);
    case F_SETLK:  // locks of one process never conflict, so none is stored
    case F_SETLKW:
      co_return may_lock(os, *file, t.args[2], false);
    case F_GETLK:
      error = may_lock(os, *file, t.args[2], true);
      if (error == 0) error = co_await os.memory.put(t, t.args[2], F_UNLCK, 2);
      co_return error;
    case F_SETOWN:
    case F_GETOWN:  // SIGIO is never sent
    case F_GETSIG:
      co_return 0;
    case F_SETSIG:
      co_return t.args[2] > Signals::kMaxSignal ? -EINVAL : 0;
    case F_GETLEASE:
      co_return F_UNLCK;
    case F_SETPIPE_SZ:
    case F_GETPIPE_SZ:
      co_return resize_pipe(file, command == F_SETPIPE_SZ, number);
    case F_ADD_SEALS:
      co_return add_seals(os, *file, number);
    case F_GET_SEALS:
      co_return file->is_regular() ? static_cast<int64_t>(file->inode()->seals) : -EINVAL;
    default:
      co_return -EINVAL;
  }
}

}  // namespace

Work fcntl(Linux& os, Task& t) {
  const OpenFileRef file = os.files.any_at(t.args[0]);
  const auto command = static_cast<uint32_t>(t.args[1]), number = static_cast<uint32_t>(t.args[2]);
  const uint64_t flags = command == F_DUPFD_CLOEXEC ? uint64_t{O_CLOEXEC} : 0;
  if (!file) co_return -EBADF;
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      if (number >= os.limits.descriptors()) co_return -EINVAL;
      co_return os.files.open(file, os.limits.descriptors(), flags, number);
    case F_GETFL:
      co_return static_cast<int64_t>(file->flags);
    case F_GETFD:
      co_return os.files.is_close_on_exec(t.args[0]) ? FD_CLOEXEC : 0;
    case F_SETFD:
      os.files.set_close_on_exec(t.args[0], t.args[2] & FD_CLOEXEC);
      co_return 0;
    default:
      if (file->flags & O_PATH) co_return -EBADF;
      co_return co_await control(os, t, file);
  }
}

namespace {
enum : uint32_t { kFionread = 0x541b, kFionbio = 0x5421, kFionclex = 0x5450, kFioclex = 0x5451 };
}  // namespace

// Implements FIONBIO, FIOCLEX, FIONCLEX and FIONREAD. No file is a terminal.
Work ioctl(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  const auto request = static_cast<uint32_t>(t.args[1]);
  if (!file) co_return -EBADF;
  if (request == kFioclex || request == kFionclex) {
    os.files.set_close_on_exec(t.args[0], request == kFioclex);
    co_return 0;
  }
  if (request == kFionbio) {
    int32_t sets = 0;
    const int64_t error = co_await os.memory.read(t, t.args[2], sets);
    if (error < 0) co_return error;
    file->flags = (file->flags & ~uint64_t{O_NONBLOCK}) | (sets ? uint64_t{O_NONBLOCK} : 0);
    co_return 0;
  }
  const int64_t bytes = request == kFionread ? file->readable_bytes() : -ENOTTY;
  if (bytes < 0) co_return file->can_read() ? -ENOTTY : -EINVAL;
  co_return co_await os.memory.put(t, t.args[2], static_cast<uint64_t>(bytes), 4);
}

}  // namespace uncore::calls
