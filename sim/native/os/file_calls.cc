// Calls about files.
#include <algorithm>
#include <array>
#include <cstring>

#include "os/calls.hh"
#include "os/file_kinds.hh"

#undef W_OK  // of the host's <unistd.h>

namespace uncore::calls {
namespace {

constexpr uint64_t AT_FDCWD = static_cast<uint32_t>(-100), AT_EMPTY_PATH = 0x1000;
constexpr uint64_t UIO_MAXIOV = 1024, W_OK = 2;

// A path as a call gives it: from the root, a directory's descriptor, or the root as directory.
Work read_path(Linux& os, Task& t, uint64_t directory, uint64_t text, std::string& path) {
  const int64_t failed = co_await os.memory.copy_text(t, text, path);
  if (failed < 0) co_return failed;
  if (path.empty()) co_return -ENOENT;
  if (path[0] == '/') co_return 0;
  if (static_cast<uint32_t>(directory) == AT_FDCWD) {
    path = std::string(FileTree::kWorkingDirectory) + '/' + path;
    co_return 0;
  }
  const OpenFileRef base = os.files.at(static_cast<uint32_t>(directory));
  if (!base) co_return -EBADF;
  if (!base->node()) co_return -ENOTDIR;
  path = std::string(base->node()->path) + '/' + path;
  co_return 0;
}

// The file that a call names; null where the value is an error.
Work find_file(Linux& os, Task& t, uint64_t directory, uint64_t text, const FileTree::Node*& node) {
  std::string path;
  const int64_t failed = co_await read_path(os, t, directory, text, path);
  if (failed < 0) co_return failed;
  node = os.files.tree.find(path);
  co_return node ? 0 : -ENOENT;
}

// The parts of a vector in turn, as far as they go; `transfer` does one.
template <class Transfer>
Work each(Linux& os, Task& t, Transfer transfer) {
  int64_t done = 0;
  if (t.args[2] > UIO_MAXIOV) co_return -EINVAL;
  for (uint64_t i = 0; i < t.args[2]; ++i) {
    UserBuffer part{};  // struct iovec
    const int64_t failed = co_await os.memory.read(t, t.args[1] + i * sizeof part, part);
    if (failed < 0) co_return failed;
    if (part.size == 0) continue;
    const int64_t moved = co_await transfer(part);
    if (moved < 0) co_return done ? done : moved;
    done += moved;
    if (static_cast<uint64_t>(moved) < part.size) break;
  }
  co_return done;
}

}  // namespace

Work read(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!UserMemory::is_range(t.args[1], t.args[2])) co_return -EFAULT;
  co_return co_await file->read(os, t, {t.args[1], t.args[2]}, file->offset);
}

Work readv(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  const auto transfer = [&](UserBuffer part) { return file->read(os, t, part, file->offset); };
  co_return co_await each(os, t, transfer);
}

Work pread64(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!file->node()) co_return -ESPIPE;
  if (!UserMemory::is_range(t.args[1], t.args[2])) co_return -EFAULT;
  uint64_t at = t.args[3];
  co_return co_await file->read(os, t, {t.args[1], t.args[2]}, at);
}

Work write(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!UserMemory::is_range(t.args[1], t.args[2])) co_return -EFAULT;
  co_return co_await file->write(os, t, {t.args[1], t.args[2]});
}

Work writev(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  const auto transfer = [&](UserBuffer part) { return file->write(os, t, part); };
  co_return co_await each(os, t, transfer);
}

Work openat(Linux& os, Task& t) {
  const FileTree::Node* node = nullptr;
  const int64_t failed = co_await find_file(os, t, t.args[0], t.args[1], node);
  if (failed == -ENOENT && (t.args[2] & O_CREAT)) co_return -EROFS;
  if (failed < 0) co_return failed;
  if ((t.args[2] & O_ACCMODE) != O_RDONLY) co_return node->directory ? -EISDIR : -EROFS;
  if ((t.args[2] & O_DIRECTORY) && !node->directory) co_return -ENOTDIR;
  co_return os.files.open(std::make_shared<TreeFile>(*node), os.limits.descriptors());
}

namespace {
// Makes the descriptor this file's, or nothing's, and hangs up what it was.
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

Work lseek(Linux& os, Task& t) {
  constexpr uint64_t kLastOrigin = 2;  // SEEK_SET, SEEK_CUR, SEEK_END
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!file->node()) co_return -ESPIPE;
  if (t.args[2] > kLastOrigin) co_return -EINVAL;
  const uint64_t bases[] = {0, file->offset, file->node()->data.size()};
  const auto next = static_cast<int64_t>(bases[t.args[2]] + t.args[1]);
  if (next < 0) co_return -EINVAL;
  file->offset = static_cast<uint64_t>(next);
  co_return next;
}

Work getdents64(Linux& os, Task& t) {
  enum : uint8_t { DT_DIR = 4, DT_REG = 8 };
  constexpr std::size_t kHead = 19;  // d_ino, d_off, d_reclen, d_type
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!file->node() || !file->node()->directory) co_return -ENOTDIR;
  const FileTree& tree = os.files.tree;
  const std::vector<std::string> names = tree.entries(*file->node());
  std::vector<uint8_t> all;
  for (; file->offset < names.size(); ++file->offset) {
    const std::string& name = names[file->offset];
    const FileTree::Node* const node = tree.find(std::string(file->node()->path) + '/' + name);
    const std::size_t begin = all.size(), size = (kHead + name.size() + 1 + 7) / 8 * 8;
    if (begin + size > t.args[2]) break;
    all.resize(begin + size);
    const uint64_t head[2] = {node->number, file->offset + 1};
    const auto length = static_cast<uint16_t>(size);
    std::memcpy(&all[begin], head, sizeof head);
    std::memcpy(&all[begin + 16], &length, sizeof length);
    all[begin + 18] = node->directory ? DT_DIR : DT_REG;
    std::memcpy(&all[begin + kHead], name.data(), name.size());
  }
  if (all.empty()) co_return file->offset < names.size() ? -EINVAL : 0;
  const int64_t failed = co_await os.memory.copy_out(t, all, t.args[1]);
  co_return failed < 0 ? failed : static_cast<int64_t>(all.size());
}

Work fstat(Linux& os, Task& t) {
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  const Stat s = file->stat();
  co_return co_await os.memory.write(t, s, t.args[1]);
}

Work newfstatat(Linux& os, Task& t) {
  std::string path;
  const int64_t failed = co_await read_path(os, t, t.args[0], t.args[1], path);
  if (failed == -ENOENT && path.empty() && (t.args[3] & AT_EMPTY_PATH)) {
    t.args[1] = t.args[2];
    co_return co_await fstat(os, t);
  }
  if (failed < 0) co_return failed;
  const FileTree::Node* const node = os.files.tree.find(path);
  if (!node) co_return -ENOENT;
  const Stat s = TreeFile::stat_of(*node);
  co_return co_await os.memory.write(t, s, t.args[2]);
}

// Refused as by a kernel that does not know it; C libraries ask newfstatat then.
Work statx(Linux&, Task&) { co_return -ENOSYS; }

Work faccessat(Linux& os, Task& t) {
  const FileTree::Node* node = nullptr;
  const int64_t failed = co_await find_file(os, t, t.args[0], t.args[1], node);
  if (failed < 0) co_return failed;
  co_return t.args[2] & W_OK ? -EROFS : 0;
}
Work faccessat2(Linux& os, Task& t) { co_return co_await faccessat(os, t); }

// The only link: /proc/self/exe.
Work readlinkat(Linux& os, Task& t) {
  std::string path;
  const int64_t failed = co_await read_path(os, t, t.args[0], t.args[1], path);
  if (failed < 0) co_return failed;
  if (FileTree::absolute(path) != "/proc/self/exe")
    co_return os.files.tree.find(path) ? -EINVAL : -ENOENT;
  const std::vector<uint8_t>& name = os.around.process().name;
  const std::span<const uint8_t> part(name.data(), std::min<std::size_t>(name.size(), t.args[3]));
  const int64_t fault = co_await os.memory.copy_out(t, part, t.args[2]);
  co_return fault < 0 ? fault : static_cast<int64_t>(part.size());
}

Work getcwd(Linux& os, Task& t) {
  const std::string path(FileTree::kWorkingDirectory);
  const std::size_t size = path.size() + 1;
  if (t.args[1] < size) co_return -ERANGE;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(path.c_str());
  const int64_t failed = co_await os.memory.copy_out(t, {bytes, size}, t.args[0]);
  co_return failed < 0 ? failed : static_cast<int64_t>(size);
}

// There is no exec, so that no descriptor needs to know whether it would be closed then.
Work fcntl(Linux& os, Task& t) {
  enum : uint64_t { F_DUPFD = 0, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC = 1030 };
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
      file->flags = (file->flags & ~uint64_t{O_NONBLOCK}) | (t.args[2] & O_NONBLOCK);
      co_return 0;
    case F_GETFD:
    case F_SETFD:
      co_return 0;
    default:
      co_return -EINVAL;
  }
}

// Nothing is a terminal.
Work ioctl(Linux& os, Task& t) { co_return os.files.at(t.args[0]) ? -ENOTTY : -EBADF; }

}  // namespace uncore::calls
