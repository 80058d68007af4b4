#include "os/tree_file.hh"

#include <algorithm>

#include "os/file_lock.hh"
#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore {

// Advances `offset` before the bytes are copied to the program, so that another task that reads
// from the open file meanwhile gets the next bytes.
Work TreeFile::read(Linux& os, Task& t, UserBuffer to, uint64_t& offset) {
  if (inode_->is_directory()) co_return -EISDIR;
  std::vector<uint8_t> bytes(std::min<uint64_t>(to.size, kMaxTransfer));
  os.memory.pull(inode_, offset, offset + bytes.size());
  bytes.resize(inode_->data.read(offset, bytes));
  const uint64_t room = os.memory.usable(to.address, bytes.size(), UserMemory::Use::write);
  if (room == 0 && !bytes.empty()) co_return -EFAULT;
  bytes.resize(room);
  offset += bytes.size();
  const int64_t failed = co_await os.memory.copy_out(t, bytes, to.address);
  if (failed < 0) offset -= bytes.size();
  co_return failed < 0 ? failed : static_cast<int64_t>(bytes.size());
}

// Copies the bytes in before it decides where to append them, so that of two tasks that append at
// the same time the later one writes after the other's bytes.
Work TreeFile::write(Linux& os, Task& t, UserBuffer from, uint64_t& offset) {
  const uint64_t size = std::min<uint64_t>(from.size, kMaxTransfer);
  std::vector<uint8_t> bytes(os.memory.usable(from.address, size, UserMemory::Use::read));
  if (bytes.empty() && size > 0) co_return -EFAULT;
  const int64_t failed = co_await os.memory.copy_in(t, from.address, bytes);
  if (failed < 0) co_return failed;
  if (flags & O_APPEND) offset = inode_->data.size();
  if (offset > FileData::kMaxFileBytes - kMaxTransfer) co_return -EFBIG;
  os.memory.pull(inode_, offset, offset + bytes.size());
  inode_->data.write(offset, bytes);
  os.memory.push(inode_, offset, offset + bytes.size(), t.now());
  offset += bytes.size();
  co_return static_cast<int64_t>(bytes.size());
}

Work TreeFile::hang_up(Linux& os, Task& t) { co_return co_await unlock(os, t, *this); }

Work unlock(Linux& os, Task& t, const OpenFile& file) {
  const std::shared_ptr<FileLock> lock = file.inode()->lock;
  if (!lock || !lock->held_by(file)) co_return 0;
  lock->release(file);
  co_return co_await lock->waits.wake_all(os.scheduler, t);
}

int64_t resize(Linux& os, Task& t, Inode& inode, uint64_t size) {
  if (inode.kind != Inode::Kind::file || static_cast<int64_t>(size) < 0) return -EINVAL;
  if (size > FileData::kMaxFileBytes) return -EFBIG;
  const uint64_t last = std::max(size, inode.data.size());
  const InodeRef file = inode.shared_from_this();
  os.memory.pull(file, 0, last);
  inode.data.resize(size);
  os.memory.push(file, std::min(size, last), last + AddressSpace::kPage, t.now());
  return 0;
}

}  // namespace uncore
