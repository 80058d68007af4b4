#include "os/device_files.hh"

#include <algorithm>

#include "os/linux.hh"
#include "os/uapi.hh"
#include "time/chance.hh"

namespace uncore {

std::vector<uint8_t> random_bytes(Linux& os, std::size_t size) {
  const Draws draws(Draws::random, os.context.job.seed, 0, 255);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(draws(os.random_bytes++));
  return bytes;
}

Work DeviceFile::read(Linux& os, Task& t, UserBuffer to, uint64_t&) {
  if (inode_->device == kNull) co_return 0;
  const std::size_t size = std::min<uint64_t>(to.size, kMaxDeviceTransfer);
  const bool zero = inode_->device == kZero || inode_->device == kFull;
  const std::vector<uint8_t> bytes = zero ? std::vector<uint8_t>(size) : random_bytes(os, size);
  const int64_t error = co_await os.memory.copy_out(t, bytes, to.address);
  co_return error < 0 ? error : static_cast<int64_t>(size);
}

Work DeviceFile::write(Linux&, Task&, UserBuffer from, uint64_t&) {
  co_return inode_->device == kFull ? -ENOSPC : static_cast<int64_t>(from.size);
}

}  // namespace uncore
