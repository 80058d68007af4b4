// /dev/null, zero, full, random and urandom.
#pragma once

#include <array>
#include <utility>

#include "os/open_file.hh"

namespace uncore {

// The names and minor numbers of these devices, whose major number is 1
// (Documentation/admin-guide/devices.txt of Linux).
enum : uint32_t { kNull = 3, kZero = 5, kFull = 7, kRandom = 8, kURandom = 9 };
inline constexpr std::array<std::pair<const char*, uint32_t>, 5> kDevices = {
    {{"null", kNull},
     {"zero", kZero},
     {"full", kFull},
     {"random", kRandom},
     {"urandom", kURandom}}};

// Returns random bytes, which are determined by the seed and by how many bytes the run has drawn
// before (K12).
std::vector<uint8_t> random_bytes(Linux& os, std::size_t size);

class DeviceFile : public OpenFile {
 public:
  DeviceFile(InodeRef inode, uint64_t flags) : OpenFile(flags), inode_(std::move(inode)) {}

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t& offset) override;
  Work write(Linux& os, Task& t, UserBuffer from, uint64_t& offset) override;
  Stat stat() const override { return Stat::of(*inode_); }
  const InodeRef& inode() const override { return inode_; }
  bool is_watchable() const override { return false; }

 private:
  const InodeRef inode_;
};

}  // namespace uncore
