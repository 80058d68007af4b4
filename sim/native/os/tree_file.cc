#include "os/tree_file.hh"

#include <algorithm>

#include "os/file_lock.hh"
#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore {

namespace {

constexpr std::size_t kBytesAtOnce = 1 << 16;  // bytes that are copied at once

// Returns how many bytes can be written at an offset by what the file's seals allow: of those that
// would make it grow, only pages before the one in which it ends.
std::size_t writable(const Inode& inode, uint64_t at, std::size_t size) {
  if (inode.seals & (kSealWriting | kSealNewWriting)) return 0;
  if (!(inode.seals & kSealGrowing) || at + size <= inode.data.size()) return size;
  const uint64_t end = AddressSpace::down(inode.data.size());
  return static_cast<std::size_t>(end - std::min(at, end));
}

// Completes the task's stores before the bytes of a mapped file are read or changed: they would
// leave its store buffer afterwards.
Work store_all(Linux& os, Task& t, const InodeRef& file) {
  if (os.memory.space.base_of(file)) co_await t.fence();
  co_return 0;
}

}  // namespace

// Advances `at` before the bytes are copied to the program, so that another task that reads from
// the open file meanwhile gets the next bytes.
Work TreeFile::read(Linux& os, Task& t, UserBuffer to, uint64_t& at) {
  if (inode_->is_directory()) co_return -EISDIR;
  const uint64_t begin = at, left = inode_->data.size() - std::min(at, inode_->data.size());
  const uint64_t most = std::min({to.size, left, kMaxTransfer});
  const uint64_t room = os.memory.usable(to.address, most, UserMemory::Use::write);
  if (room == 0 && most > 0) co_return -EFAULT;
  at += room;
  uint64_t done = 0;
  co_await store_all(os, t, inode_);
  for (std::size_t size = 1; done < room && size > 0; done += size) {
    std::vector<uint8_t> bytes(std::min<uint64_t>(kBytesAtOnce, room - done));
    os.memory.pull(inode_, begin + done, begin + done + bytes.size());
    bytes.resize(size = inode_->data.read(begin + done, bytes));
    const int64_t error = co_await os.memory.copy_out(t, bytes, to.address + done);
    if (error == 0) continue;
    at -= room - done;
    co_return done ? static_cast<int64_t>(done) : error;
  }
  at -= room - done;
  co_return static_cast<int64_t>(done);
}

// Copies the bytes in before it decides where to append them, so that of two tasks that append at
// the same time the later one writes behind the other's bytes.
Work TreeFile::write(Linux& os, Task& t, UserBuffer from, uint64_t& at) {
  const uint64_t whole = std::min(from.size, kMaxTransfer);
  const uint64_t room = os.memory.usable(from.address, whole, UserMemory::Use::read);
  std::vector<uint8_t> bytes;
  if (room == 0 && whole > 0) co_return -EFAULT;
  while (bytes.size() < room) {  // what is copied is memory that the program has
    const std::size_t before = bytes.size();
    bytes.resize(std::min<uint64_t>(room, before + kBytesAtOnce));
    const int64_t error =
        co_await os.memory.copy_in(t, from.address + before, std::span(bytes).subspan(before));
    if (error < 0) co_return error;
  }
  co_await store_all(os, t, inode_);
  if (flags & O_APPEND) at = inode_->data.size();
  if (at > FileData::kMaxFileBytes - kMaxTransfer) co_return -EFBIG;
  bytes.resize(writable(*inode_, at, bytes.size()));
  if (bytes.empty() && whole > 0) co_return -EPERM;
  os.memory.pull(inode_, at, at + bytes.size());
  inode_->data.write(at, bytes);
  os.memory.push(inode_, at, at + bytes.size(), t.now());
  at += bytes.size();
  co_return static_cast<int64_t>(bytes.size());
}

Work TreeFile::hang_up(Linux& os, Task& t) { co_return co_await unlock(os, t, *this); }

Work unlock(Linux& os, Task& t, const OpenFile& file) {
  const std::shared_ptr<FileLock> lock = file.inode()->lock;
  if (!lock || !lock->held_by(file)) co_return 0;
  lock->release(file);
  co_return co_await lock->waits.wake_all(os.scheduler, t);
}

Work resize(Linux& os, Task& t, InodeRef file, uint64_t size) {
  Inode& inode = *file;
  if (inode.kind != Inode::Kind::file || static_cast<int64_t>(size) < 0) co_return -EINVAL;
  if (size > FileData::kMaxFileBytes) co_return -EFBIG;
  if (size < inode.data.size() && (inode.seals & kSealShrinking)) co_return -EPERM;
  if (size > inode.data.size() && (inode.seals & kSealGrowing)) co_return -EPERM;
  const uint64_t last = std::max(size, inode.data.size());
  co_await store_all(os, t, file);
  os.memory.pull(file, 0, last);
  inode.data.resize(size);
  os.memory.push(file, std::min(size, last), last + AddressSpace::kPage, t.now());
  co_return 0;
}

Work clear(Linux& os, Task& t, InodeRef file, uint64_t begin, uint64_t end) {
  Inode& inode = *file;
  if (inode.seals & (kSealWriting | kSealNewWriting)) co_return -EPERM;
  end = std::min(end, inode.data.size());
  if (begin >= end) co_return 0;
  co_await store_all(os, t, file);
  os.memory.pull(file, begin, end);
  inode.data.clear(begin, end);
  os.memory.push(file, begin, end, t.now());
  co_return 0;
}

}  // namespace uncore
