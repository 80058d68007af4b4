// Calls about files, all of them read-only, and the console.
#include <algorithm>
#include <array>
#include <cstring>

#include "os/calls.hh"

namespace uncore::calls {
namespace {

using Kind = Files::Open::Kind;
constexpr uint64_t kHere = static_cast<uint64_t>(-100);                    // AT_FDCWD
constexpr uint64_t kEmptyPath = 0x1000;                                    // AT_EMPTY_PATH
constexpr uint64_t kAccessMode = 3, kCreate = 0x40, kDirectory = 0x10000;  // O_...
constexpr std::size_t kMost = 1 << 16;  // bytes of one read or write; programs ask again
constexpr uint64_t kMostVectors = 1024;
constexpr uint32_t kOfDirectory = 0040555, kOfFile = 0100444, kOfConsole = 0020620;

// A path as a call gives it: from the root, a directory's descriptor, or the root as directory.
Work path_of(Linux& os, Task& t, uint64_t directory, uint64_t text, std::string& path) {
  const int64_t failed = co_await os.memory.copy_text(t, text, path);
  if (failed < 0) co_return failed;
  if (path.empty()) co_return -ENOENT;
  if (path[0] == '/') co_return 0;
  if (directory == kHere) {
    path = kWorkingDirectory + '/' + path;
    co_return 0;
  }
  const Files::Open* const base = os.files.at(static_cast<uint32_t>(directory));
  if (!base) co_return -EBADF;
  path = base->path + '/' + path;
  co_return 0;
}

struct Stat {
  uint64_t device, number;
  uint32_t mode, links, user, group;
  uint64_t of_device, pad;
  int64_t size;
  int32_t block, pad2;
  int64_t blocks;
  int64_t times[6];
  uint32_t unused[2];
};
static_assert(sizeof(Stat) == 128);

Stat stat_of(const Files::Node& node) {
  Stat s{};
  s.device = 1, s.number = node.number, s.links = 1, s.block = 4096;
  s.mode = node.directory ? kOfDirectory : kOfFile;
  s.size = static_cast<int64_t>(node.data.size());
  s.blocks = (s.size + 511) / 512;
  return s;
}

Stat stat_of_console() {
  Stat s{};
  s.device = 1, s.links = 1, s.block = 1024, s.mode = kOfConsole;
  return s;
}

template <class T>
std::span<const uint8_t> bytes_of(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

Work say(Linux& os, Task& t, const Files::Open* file, uint64_t from, uint64_t size) {
  if (!file || file->kind != Kind::console || file->output == 0) co_return -EBADF;
  std::vector<uint8_t> text(std::min<uint64_t>(size, kMost));
  const int64_t failed = co_await os.memory.copy_in(t, from, text);
  if (failed < 0) co_return failed;
  os.around.services.console.text.append(text.begin(), text.end());
  co_return static_cast<int64_t>(text.size());
}

Work give(Linux& os, Task& t, const Files::Open* file, uint64_t offset, uint64_t to,
          uint64_t size) {
  if (!file) co_return -EBADF;
  if (file->kind == Kind::directory) co_return -EISDIR;
  if (file->kind == Kind::console) co_return 0;  // nothing is ever typed
  const std::string_view data = os.files.find(file->path)->data;
  const std::string_view part =
      data.substr(std::min<uint64_t>(offset, data.size()), std::min<uint64_t>(size, kMost));
  const auto* const bytes = reinterpret_cast<const uint8_t*>(part.data());
  const int64_t failed = co_await os.memory.copy_out(t, {bytes, part.size()}, to);
  co_return failed < 0 ? failed : static_cast<int64_t>(part.size());
}

// Each part of a vector in turn, as far as it goes.
template <class One>
Work each(Linux& os, Task& t, One one) {
  int64_t done = 0;
  if (t.args[2] > kMostVectors) co_return -EINVAL;
  for (uint64_t i = 0; i < t.args[2]; ++i) {
    std::array<uint64_t, 2> part{};
    const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(part.data()), sizeof part);
    const int64_t failed = co_await os.memory.copy_in(t, t.args[1] + i * sizeof part, bytes);
    if (failed < 0) co_return failed;
    if (part[1] == 0) continue;
    const int64_t moved = co_await one(part[0], part[1]);
    if (moved < 0) co_return done ? done : moved;
    done += moved;
    if (static_cast<uint64_t>(moved) < part[1]) break;
  }
  co_return done;
}

}  // namespace

Work write(Linux& os, Task& t) {
  co_return co_await say(os, t, os.files.at(t.args[0]), t.args[1], t.args[2]);
}

Work writev(Linux& os, Task& t) {
  const auto one = [&](uint64_t from, uint64_t size) {
    return say(os, t, os.files.at(t.args[0]), from, size);
  };
  co_return co_await each(os, t, one);
}

Work read(Linux& os, Task& t) {
  Files::Open* const file = os.files.at(t.args[0]);
  const int64_t given = co_await give(os, t, file, file ? file->offset : 0, t.args[1], t.args[2]);
  if (given > 0) file->offset += static_cast<uint64_t>(given);
  co_return given;
}

Work pread64(Linux& os, Task& t) {
  co_return co_await give(os, t, os.files.at(t.args[0]), t.args[3], t.args[1], t.args[2]);
}

Work readv(Linux& os, Task& t) {
  Files::Open* const file = os.files.at(t.args[0]);
  uint64_t offset = file ? file->offset : 0;
  const auto one = [&](uint64_t to, uint64_t size) {
    const uint64_t from = offset;
    if (file && file->kind == Kind::file)
      offset += std::min<uint64_t>({size, kMost, os.files.find(file->path)->data.size() - from});
    return give(os, t, file, from, to, size);
  };
  const int64_t done = co_await each(os, t, one);
  if (done > 0) file->offset += static_cast<uint64_t>(done);
  co_return done;
}

Work openat(Linux& os, Task& t) {
  std::string path;
  const int64_t failed = co_await path_of(os, t, t.args[0], t.args[1], path);
  if (failed < 0) co_return failed;
  const Files::Node* const node = os.files.find(path);
  if (!node) co_return t.args[2] & kCreate ? -EROFS : -ENOENT;
  if ((t.args[2] & kAccessMode) != 0) co_return node->directory ? -EISDIR : -EROFS;
  if ((t.args[2] & kDirectory) && !node->directory) co_return -ENOTDIR;
  const int64_t descriptor =
      os.files.open({node->directory ? Kind::directory : Kind::file, Files::absolute(path), 0, 0});
  co_return descriptor < 0 ? -EMFILE : descriptor;
}

Work close(Linux& os, Task& t) { co_return os.files.close(t.args[0]) ? 0 : -EBADF; }

Work dup(Linux& os, Task& t) {
  const Files::Open* const file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  const int64_t descriptor = os.files.open(*file);
  co_return descriptor < 0 ? -EMFILE : descriptor;
}

Work dup3(Linux& os, Task& t) {
  const Files::Open* const file = os.files.at(t.args[0]);
  if (!file || t.args[1] > 2) co_return -EBADF;  // a stream of the console, for another
  const Files::Open copy = *file;
  os.files.close(t.args[1]);
  co_return os.files.open(copy);
}

Work lseek(Linux& os, Task& t) {
  Files::Open* const file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (file->kind == Kind::console) co_return -ESPIPE;
  const uint64_t size = file->kind == Kind::file ? os.files.find(file->path)->data.size() : 0;
  const uint64_t bases[] = {0, file->offset, size};
  if (t.args[2] > 2) co_return -EINVAL;
  const auto then = static_cast<int64_t>(bases[t.args[2]] + t.args[1]);
  if (then < 0) co_return -EINVAL;
  file->offset = static_cast<uint64_t>(then);
  co_return then;
}

Work getdents64(Linux& os, Task& t) {
  Files::Open* const file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (file->kind != Kind::directory) co_return -ENOTDIR;
  const std::vector<std::string> names = os.files.entries(file->path);
  std::vector<uint8_t> all;
  for (; file->offset < names.size(); ++file->offset) {
    const std::string& name = names[file->offset];
    const Files::Node* const node = os.files.find(file->path + '/' + name);
    const std::size_t begin = all.size(), size = (19 + name.size() + 1 + 7) / 8 * 8;
    if (begin + size > t.args[2]) break;
    all.resize(begin + size);
    const uint64_t head[2] = {node->number, file->offset + 1};
    const auto length = static_cast<uint16_t>(size);
    std::memcpy(&all[begin], head, sizeof head);
    std::memcpy(&all[begin + 16], &length, sizeof length);
    all[begin + 18] = node->directory ? 4 : 8;  // DT_DIR, DT_REG
    std::memcpy(&all[begin + 19], name.data(), name.size());
  }
  if (all.empty()) co_return file->offset < names.size() ? -EINVAL : 0;
  const int64_t failed = co_await os.memory.copy_out(t, all, t.args[1]);
  co_return failed < 0 ? failed : static_cast<int64_t>(all.size());
}

Work fstat(Linux& os, Task& t) {
  const Files::Open* const file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  const Stat s =
      file->kind == Kind::console ? stat_of_console() : stat_of(*os.files.find(file->path));
  co_return co_await os.memory.copy_out(t, bytes_of(s), t.args[1]);
}

Work newfstatat(Linux& os, Task& t) {
  std::string path;
  const int64_t failed = co_await path_of(os, t, t.args[0], t.args[1], path);
  if (failed == -ENOENT && path.empty() && (t.args[3] & kEmptyPath)) {
    t.args[1] = t.args[2];
    co_return co_await fstat(os, t);
  }
  if (failed < 0) co_return failed;
  const Files::Node* const node = os.files.find(path);
  if (!node) co_return -ENOENT;
  const Stat s = stat_of(*node);
  co_return co_await os.memory.copy_out(t, bytes_of(s), t.args[2]);
}

// As a kernel that does not know it; C libraries ask newfstatat then.
Work statx(Linux&, Task&) { co_return -ENOSYS; }

Work faccessat(Linux& os, Task& t) {
  std::string path;
  const int64_t failed = co_await path_of(os, t, t.args[0], t.args[1], path);
  if (failed < 0) co_return failed;
  if (!os.files.find(path)) co_return -ENOENT;
  co_return t.args[2] & 2 ? -EROFS : 0;  // W_OK
}
Work faccessat2(Linux& os, Task& t) { co_return co_await faccessat(os, t); }

// The only link: /proc/self/exe.
Work readlinkat(Linux& os, Task& t) {
  std::string path;
  const int64_t failed = co_await path_of(os, t, t.args[0], t.args[1], path);
  if (failed < 0) co_return failed;
  if (Files::absolute(path) != "/proc/self/exe") co_return os.files.find(path) ? -EINVAL : -ENOENT;
  const std::vector<uint8_t>& name = os.around.process().name;
  const std::span<const uint8_t> part(name.data(), std::min<std::size_t>(name.size(), t.args[3]));
  const int64_t not_put = co_await os.memory.copy_out(t, part, t.args[2]);
  co_return not_put < 0 ? not_put : static_cast<int64_t>(part.size());
}

Work getcwd(Linux& os, Task& t) {
  const std::string here = kWorkingDirectory;
  if (t.args[1] < here.size() + 1) co_return -ERANGE;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(here.c_str());
  const int64_t failed = co_await os.memory.copy_out(t, {bytes, here.size() + 1}, t.args[0]);
  co_return failed < 0 ? failed : static_cast<int64_t>(here.size() + 1);
}

Work fcntl(Linux& os, Task& t) {
  constexpr uint64_t kDuplicate = 0, kGetFlags = 3, kDuplicateCloexec = 1030;
  if (!os.files.at(t.args[0])) co_return -EBADF;
  if (t.args[1] == kDuplicate || t.args[1] == kDuplicateCloexec) co_return co_await dup(os, t);
  co_return t.args[1] == kGetFlags&& os.files.at(t.args[0])->kind == Kind::console ? 2 : 0;
}

// Nothing is a terminal.
Work ioctl(Linux& os, Task& t) { co_return os.files.at(t.args[0]) ? -ENOTTY : -EBADF; }

}  // namespace uncore::calls
