#include "os/console_file.hh"

#include <algorithm>

#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore {

namespace {
constexpr uint32_t kMode = 0020620;  // S_IFCHR and crw--w----, as a terminal has
}

Work ConsoleFile::read(Linux&, Task&, UserBuffer, uint64_t&) { co_return 0; }

Work ConsoleFile::write(Linux& os, Task& t, UserBuffer from, uint64_t&) {
  if (!output_) co_return -EBADF;
  std::vector<uint8_t> text(std::min<uint64_t>(from.size, kMaxDeviceTransfer));
  const int64_t error = co_await os.memory.copy_in(t, from.address, text);
  if (error < 0) co_return error;
  os.context.services.console.text.append(text.begin(), text.end());
  co_return static_cast<int64_t>(text.size());
}

Stat ConsoleFile::stat() const {
  Stat s;
  s.mode = kMode, s.block = 1024;
  return s;
}

}  // namespace uncore
