#include "os/file_kinds.hh"

#include <algorithm>

#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore {

namespace {
constexpr uint32_t kDirectoryMode = 0040555, kFileMode = 0100444, kConsoleMode = 0020620;
}

// The bytes are this reader's before they are copied: another one of the same file has the next.
Work TreeFile::read(Linux& os, Task& t, UserBuffer to, uint64_t& at) {
  if (node_.directory) co_return -EISDIR;
  const uint64_t from = std::min<uint64_t>(at, node_.data.size());
  const std::string_view part = node_.data.substr(from, std::min<uint64_t>(to.size, kMost));
  at += part.size();
  const auto* const bytes = reinterpret_cast<const uint8_t*>(part.data());
  const int64_t failed = co_await os.memory.copy_out(t, {bytes, part.size()}, to.address);
  if (failed < 0) at -= part.size();
  co_return failed < 0 ? failed : static_cast<int64_t>(part.size());
}

Work TreeFile::write(Linux&, Task&, UserBuffer) { co_return -EBADF; }

Stat TreeFile::stat_of(const FileTree::Node& node) {
  Stat s;
  s.number = node.number;
  s.mode = node.directory ? kDirectoryMode : kFileMode;
  s.size = static_cast<int64_t>(node.data.size());
  s.blocks = (s.size + 511) / 512;
  return s;
}

Work ConsoleFile::read(Linux&, Task&, UserBuffer, uint64_t&) { co_return 0; }

Work ConsoleFile::write(Linux& os, Task& t, UserBuffer from) {
  if (!output_) co_return -EBADF;
  std::vector<uint8_t> text(std::min<uint64_t>(from.size, kMost));
  const int64_t failed = co_await os.memory.copy_in(t, from.address, text);
  if (failed < 0) co_return failed;
  os.around.services.console.text.append(text.begin(), text.end());
  co_return static_cast<int64_t>(text.size());
}

Stat ConsoleFile::stat() const {
  Stat s;
  s.mode = kConsoleMode, s.block = 1024;
  return s;
}

}  // namespace uncore
