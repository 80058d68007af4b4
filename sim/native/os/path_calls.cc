// System calls on paths. File modes are stored and reported but not enforced, except that the files
// of /proc and /sys are read-only.
#include <algorithm>
#include <array>
#include <cstring>

#include "os/calls.hh"
#include "os/device_files.hh"
#include "os/tree_file.hh"

#undef W_OK  // the host's <unistd.h> defines these
#undef AT_FDCWD
#undef AT_SYMLINK_NOFOLLOW
#undef AT_REMOVEDIR
#undef AT_SYMLINK_FOLLOW
#undef AT_EMPTY_PATH
#undef AT_EACCESS
#undef AT_NO_AUTOMOUNT
#undef RENAME_NOREPLACE  // the host's <stdio.h> defines these
#undef RENAME_EXCHANGE

namespace uncore::calls {
namespace {

enum : uint64_t {
  W_OK = 2,
  AT_FDCWD = static_cast<uint32_t>(-100),
  AT_SYMLINK_NOFOLLOW = 0x100,
  AT_REMOVEDIR = 0x200,
  AT_SYMLINK_FOLLOW = 0x400,
  AT_EACCESS = 0x200,  // of faccessat
  AT_NO_AUTOMOUNT = 0x800,
  AT_EMPTY_PATH = 0x1000,
  kSync = 0x6000,  // AT_STATX_SYNC_TYPE
  RENAME_NOREPLACE = 1,
  RENAME_EXCHANGE = 2,
};
using Found = FileTree::Found;
using LinkPolicy = FileTree::LinkPolicy;

bool is_working(uint64_t directory) { return static_cast<uint32_t>(directory) == AT_FDCWD; }

// Sets `node` to the inode of a descriptor, or of the working directory for AT_FDCWD. Returns 0,
// -EBADF, or -ENOTDIR for a file without an inode.
int64_t node_at(Linux& os, uint64_t directory, InodeRef& node) {
  const OpenFileRef file = os.files.any_at(directory);
  if (!file && !is_working(directory)) return -EBADF;
  node = file ? file->inode() : os.files.working;
  return node ? 0 : -ENOTDIR;
}

// Walks from a directory's descriptor, or the working directory, along a path.
int64_t walk_from(Linux& os, uint64_t directory, const std::string& path, LinkPolicy how,
                  Found& found) {
  InodeRef from = os.files.tree.root();
  if (path.empty()) return -ENOENT;
  if (path[0] != '/')
    if (const int64_t error = node_at(os, directory, from); error < 0) return error;
  found = os.files.tree.walk(from, path, how);
  return found.error;
}
// Reads the path at `text`, and walks along it in the same way.
Work walk(Linux& os, Task& t, uint64_t directory, uint64_t text, LinkPolicy how, Found& found) {
  std::string path;
  const int64_t error = co_await os.memory.copy_text(t, text, path);
  co_return error < 0 ? error : walk_from(os, directory, path, how, found);
}
// Walks to a node that must exist. With AT_EMPTY_PATH among the flags, an empty path leads to the
// descriptor's own node.
Work find(Linux& os, Task& t, uint64_t directory, uint64_t text, LinkPolicy how, Found& found,
          uint64_t flags = 0) {
  std::string path;
  int64_t error = co_await os.memory.copy_text(t, text, path);
  if (error < 0) co_return error;
  if (path.empty() && (flags & AT_EMPTY_PATH)) co_return node_at(os, directory, found.node);
  error = walk_from(os, directory, path, how, found);
  if (error < 0) co_return error;
  if (!found.node) co_return -ENOENT;
  co_return found.slash && !found.node->is_directory() ? -ENOTDIR : 0;
}

// Gives the node a new name, which must not exist yet.
Work enter_new(Linux& os, Task& t, uint64_t directory, uint64_t text, InodeRef node,
               bool makes_directory = false) {
  Found found;
  const int64_t error = co_await walk(os, t, directory, text, LinkPolicy::name_only, found);
  if (error < 0) co_return error;
  if (found.is_too_long()) co_return -ENAMETOOLONG;
  if (found.node) co_return -EEXIST;
  if (found.slash && !makes_directory) co_return -ENOENT;
  if (found.directory->is_removed()) co_return -ENOENT;
  if (node->sealed) co_return -EXDEV;
  if (found.directory->sealed) co_return -EROFS;
  if (node->is_directory() && !makes_directory) co_return -EPERM;
  os.files.tree.enter(found.directory, found.name, node);
  co_return 0;
}

uint32_t masked_mode(const Linux& os, uint64_t mode) {
  return static_cast<uint32_t>(mode & 07777 & ~uint64_t{os.files.mask});
}

// Creates a file for openat with O_CREAT.
InodeRef create(Linux& os, const Found& found, uint64_t mode) {
  const InodeRef node = os.files.tree.make(Inode::Kind::file, masked_mode(os, mode));
  os.files.tree.enter(found.directory, found.name, node);
  return node;
}

// Returns 0 if the path can be opened or created with these flags, else the error.
int64_t may_open(const Found& found, uint64_t flags) {
  if ((flags & O_CREAT) && found.slash) return -EISDIR;
  if (found.is_too_long()) return -ENAMETOOLONG;
  if (!found.node && !(flags & O_CREAT)) return -ENOENT;
  if (!found.node && found.directory->is_removed()) return -ENOENT;
  if (!found.node) return found.directory->sealed ? -EROFS : 0;
  const Inode& node = *found.node;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
  if ((flags & O_CREAT) && (flags & O_EXCL)) return -EEXIST;
  if (node.is_directory() && (flags & O_CREAT)) return -EISDIR;
  if (((flags & O_DIRECTORY) || found.slash) && !node.is_directory()) return -ENOTDIR;
  if (flags & O_PATH) return 0;
  if (node.kind == Inode::Kind::link) return -ELOOP;
  if (node.is_directory() && writes) return -EISDIR;
  if (node.kind == Inode::Kind::socket) return -ENXIO;
  return node.sealed && writes ? -EROFS : 0;
}

OpenFileRef make_open_file(Linux& os, const Task& t, InodeRef node, uint64_t flags) {
  constexpr uint64_t kNotKept = O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC;
  const uint64_t kept = flags & ~kNotKept;
  if (node->kind == Inode::Kind::device) return std::make_shared<DeviceFile>(std::move(node), kept);
  if (node->kind == Inode::Kind::generated) {
    const InodeRef text = os.files.tree.make(Inode::Kind::file, node->mode);
    const std::string bytes = node->make(os, t);
    text->data.write(0, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    text->sealed = true;
    node = text;
  }
  return std::make_shared<TreeFile>(std::move(node), kept);
}

// Returns the open flags without those that Linux ignores: unknown ones, and, with O_PATH, all but
// the four below.
uint64_t known_flags(uint64_t flags) {
  constexpr uint64_t kKnownFlags = 0x7fffc3;  // VALID_OPEN_FLAGS
  constexpr uint64_t kOfPaths = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  return flags & O_PATH ? flags & kOfPaths : (flags & kKnownFlags) | O_LARGEFILE;
}
// Returns whether the combination of open flags is valid (Linux's build_open_flags).
bool is_valid_combination(uint64_t flags) {
  if ((flags & O_CREAT) && (flags & O_DIRECTORY)) return false;
  const bool unnamed = flags & (O_TMPFILE & ~O_DIRECTORY);
  return !unnamed || ((flags & O_DIRECTORY) && (flags & O_ACCMODE) != O_RDONLY);
}
LinkPolicy how_to_open(uint64_t flags) {
  if (flags & O_CREAT)
    return flags & (O_EXCL | O_NOFOLLOW) ? LinkPolicy::name_only : LinkPolicy::create;
  return flags & O_NOFOLLOW ? LinkPolicy::no_follow : LinkPolicy::follow;
}

bool is_within(const FileTree& tree, const InodeRef& inner, const InodeRef& outer) {
  for (InodeRef at = inner; at; at = at == tree.root() ? nullptr : at->parent.lock())
    if (at == outer) return true;
  return false;
}

// Returns 0 if `from` can be renamed to `to`, else the error.
int64_t may_replace(const FileTree& tree, const Found& from, const Found& to, uint64_t flags) {
  const bool exchanges = flags & RENAME_EXCHANGE, keeps = flags & RENAME_NOREPLACE;
  if (from.name.empty()) return -EBUSY;
  if (to.name.empty()) return keeps ? -EEXIST : -EBUSY;
  if (from.is_too_long()) return -ENAMETOOLONG;
  if (!from.node) return -ENOENT;
  if (to.is_too_long()) return -ENAMETOOLONG;
  if (exchanges && !to.node) return -ENOENT;
  if (keeps && to.node) return -EEXIST;
  const bool moves_directory = from.node->is_directory();
  const bool has_slash = from.slash || (to.slash && !exchanges);
  if (!moves_directory && has_slash) return -ENOTDIR;
  if (exchanges && to.slash && !to.node->is_directory()) return -ENOTDIR;
  if (to.directory->is_removed()) return -ENOENT;
  if (is_within(tree, to.directory, from.node)) return -EINVAL;
  if (to.node && is_within(tree, from.directory, to.node)) return exchanges ? -EINVAL : -ENOTEMPTY;
  if (from.node == to.node) return 0;
  if (from.directory->sealed || to.directory->sealed) return -EROFS;
  if (exchanges || !to.node) return 0;
  if (moves_directory != to.node->is_directory()) return moves_directory ? -ENOTDIR : -EISDIR;
  return to.node->entries.empty() ? 0 : -ENOTEMPTY;
}

}  // namespace

Work openat(Linux& os, Task& t) {
  const uint64_t flags = known_flags(t.args[2]);
  Found found;
  std::string path;
  if (!is_valid_combination(flags)) co_return -EINVAL;
  int64_t error = co_await os.memory.copy_text(t, t.args[1], path);
  if (error == 0 && path.empty()) error = -ENOENT;
  if (error < 0) co_return error;
  if (!os.files.has_room(os.limits.descriptors())) co_return -EMFILE;
  error = walk_from(os, t.args[0], path, how_to_open(flags), found);
  if (error < 0) co_return error;
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    if (!found.node || !found.node->is_directory()) co_return found.node ? -ENOTDIR : -ENOENT;
    found.node = os.files.tree.make(Inode::Kind::file, masked_mode(os, t.args[3]));
    found.node->links = 0;
  } else {
    if (const int64_t may = may_open(found, flags); may < 0) co_return may;
    if (!found.node) found.node = create(os, found, t.args[3]);
  }
  if ((flags & O_TRUNC) && found.node->kind == Inode::Kind::file)
    co_await resize(os, t, found.node, 0);
  co_return os.files.open(make_open_file(os, t, found.node, flags), os.limits.descriptors(), flags);
}

// Makes a file without a path. The call's name argument is ignored, because it only serves for
// debugging.
Work memfd_create(Linux& os, Task& t) {
  // MFD_CLOEXEC, MFD_ALLOW_SEALING, MFD_NOEXEC_SEAL, MFD_EXEC; there are no huge pages.
  constexpr uint64_t kCloses = 1, kSealable = 2, kNoExecution = 8;
  constexpr uint64_t kNotBoth = kNoExecution | 16, kKnownFlags = kCloses | kSealable | kNotBoth;
  const auto flags = static_cast<uint32_t>(t.args[1]);
  if ((flags & ~kKnownFlags) || (flags & kNotBoth) == kNotBoth) co_return -EINVAL;
  if (os.memory.usable(t.args[0], 1, UserMemory::Use::read) == 0) co_return -EFAULT;
  const InodeRef node = os.files.tree.make(Inode::Kind::file, flags & kNoExecution ? 0666 : 0777);
  node->links = 0;
  if (flags & kSealable) node->seals = 0;
  if (flags & kNoExecution) node->seals = kSealExecution;
  const auto file = std::make_shared<TreeFile>(node, O_RDWR | O_LARGEFILE);
  co_return os.files.open(file, os.limits.descriptors(), flags & kCloses ? uint64_t{O_CLOEXEC} : 0);
}

namespace {

// Describes the file system as tmpfs: all files are in the machine's memory.
Work write_statfs(Linux& os, Task& t, uint64_t to) {
  constexpr uint64_t kPage = AddressSpace::kPage;
  struct {  // struct statfs
    uint64_t type = 0x01021994, block = kPage, blocks = 0, free = 0, available = 0;  // of tmpfs
    uint64_t files = 0, free_files = 0, id = 0;
    uint64_t longest_name = FileTree::kLongestName, fragment = kPage;
    uint64_t flags = 0, spare[4] = {};
  } about;
  static_assert(sizeof about == 120);
  about.blocks = os.context.room / kPage;
  about.free = about.available = (os.context.room - os.memory.space.touched_bytes()) / kPage;
  about.files = about.blocks, about.free_files = about.free;  // each free page can hold a file
  co_return co_await os.memory.write(t, about, to);
}

}  // namespace

Work statfs(Linux& os, Task& t) {
  Found found;
  const int64_t error = co_await find(os, t, AT_FDCWD, t.args[0], LinkPolicy::follow, found);
  co_return error < 0 ? error : co_await write_statfs(os, t, t.args[1]);
}

Work fstatfs(Linux& os, Task& t) {
  if (!os.files.any_at(t.args[0])) co_return -EBADF;
  co_return co_await write_statfs(os, t, t.args[1]);
}

namespace {

struct StatX {  // struct statx
  uint32_t mask = 0, block = 4096;
  uint64_t attributes = 0;
  uint32_t links = 0, user = 0, group = 0;
  uint16_t mode = 0, pad = 0;
  uint64_t number = 0, size = 0, blocks = 0, known_attributes = 0;
  uint64_t times[8] = {};
  uint32_t of_device[2] = {}, device[2] = {};  // major, minor
  uint64_t mount = 1, more[13] = {};

  // Reports the times of the last changes of a file in the tree only if one of them is requested,
  // as Linux does (fill_mg_cmtime).
  StatX(const Stat& stat, uint32_t asked) {
    constexpr uint32_t kUsual = 0x7ff, kChanges = 0xc0, kBirth = 0x800, kMount = 0x1000;  // STATX_
    const bool is_in_tree = stat.number != 0, is_told = (asked & kChanges) || !is_in_tree;
    mask = kUsual | kMount | (asked & kBirth);
    if (!is_told) mask &= ~kChanges;
    links = stat.links, user = stat.user, group = stat.group;
    mode = static_cast<uint16_t>(stat.mode);
    number = stat.number, size = static_cast<uint64_t>(stat.size);
    blocks = static_cast<uint64_t>(stat.blocks);
    of_device[0] = static_cast<uint32_t>(stat.of_device >> 8), of_device[1] = stat.of_device & 255;
    device[1] = static_cast<uint32_t>(stat.device);
  }
};
static_assert(sizeof(StatX) == 256);

// Finds the file that newfstatat or statx names, and sets `stat` to its description.
Work describe(Linux& os, Task& t, uint64_t flags, Stat& stat) {
  uint8_t first = 0;
  int64_t error = 0;
  const bool may_be_empty = flags & AT_EMPTY_PATH;
  if (t.args[1] || !may_be_empty) error = co_await os.memory.copy_in(t, t.args[1], {&first, 1});
  if (error == 0 && first == 0 && may_be_empty) {
    const OpenFileRef file = os.files.any_at(t.args[0]);
    if (!file && !is_working(t.args[0])) co_return -EBADF;
    stat = file ? file->stat() : Stat::of(*os.files.working);
    co_return 0;
  }
  Found found;
  error = co_await find(os, t, t.args[0], t.args[1],
                        flags & AT_SYMLINK_NOFOLLOW ? LinkPolicy::no_follow : LinkPolicy::follow,
                        found);
  if (error < 0) co_return error;
  stat = Stat::of(*found.node);
  co_return 0;
}

constexpr uint32_t kStatFlags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | kSync;

}  // namespace

Work newfstatat(Linux& os, Task& t) {
  Stat stat;
  if (static_cast<uint32_t>(t.args[3]) & ~kStatFlags) co_return -EINVAL;
  const int64_t error = co_await describe(os, t, t.args[3], stat);
  if (error < 0) co_return error;
  co_return co_await os.memory.write(t, stat, t.args[2]);
}

Work statx(Linux& os, Task& t) {
  const auto flags = static_cast<uint32_t>(t.args[2]), asked = static_cast<uint32_t>(t.args[3]);
  Stat stat;
  if ((flags & ~kStatFlags) || (flags & kSync) == kSync || asked >> 31) co_return -EINVAL;
  const int64_t error = co_await describe(os, t, flags, stat);
  if (error < 0) co_return error;
  const StatX all(stat, asked);
  co_return co_await os.memory.write(t, all, t.args[4]);
}

namespace {
Work may_access(Linux& os, Task& t, uint64_t flags) {
  constexpr uint32_t kAnyAccess = 7;  // R_OK, W_OK, X_OK
  constexpr uint32_t kKnownFlags = AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
  Found found;
  if (static_cast<uint32_t>(t.args[2]) & ~kAnyAccess) co_return -EINVAL;
  if (static_cast<uint32_t>(flags) & ~kKnownFlags) co_return -EINVAL;
  const LinkPolicy how = flags & AT_SYMLINK_NOFOLLOW ? LinkPolicy::no_follow : LinkPolicy::follow;
  const int64_t error = co_await find(os, t, t.args[0], t.args[1], how, found, flags);
  if (error < 0) co_return error;
  co_return (t.args[2] & W_OK) && found.node->sealed ? -EROFS : 0;
}
}  // namespace
Work faccessat(Linux& os, Task& t) { co_return co_await may_access(os, t, 0); }
Work faccessat2(Linux& os, Task& t) { co_return co_await may_access(os, t, t.args[3]); }

Work readlinkat(Linux& os, Task& t) {
  Found found;
  if (static_cast<int32_t>(t.args[3]) <= 0) co_return -EINVAL;
  const int64_t error =
      co_await find(os, t, t.args[0], t.args[1], LinkPolicy::no_follow, found, AT_EMPTY_PATH);
  if (error < 0) co_return error;
  const bool is_own = !found.directory;  // an empty path: the descriptor's own node
  if (found.node->kind != Inode::Kind::link) co_return is_own ? -ENOENT : -EINVAL;
  const std::string& target = found.node->target;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(target.data());
  const std::size_t size = std::min<std::size_t>(target.size(), t.args[3]);
  const int64_t fault = co_await os.memory.copy_out(t, {bytes, size}, t.args[2]);
  co_return fault < 0 ? fault : static_cast<int64_t>(size);
}

Work symlinkat(Linux& os, Task& t) {
  const InodeRef link = os.files.tree.make(Inode::Kind::link, 0777);
  const int64_t error = co_await os.memory.copy_text(t, t.args[0], link->target);
  if (error < 0) co_return error;
  if (link->target.empty()) co_return -ENOENT;
  co_return co_await enter_new(os, t, t.args[1], t.args[2], link);
}

Work linkat(Linux& os, Task& t) {
  Found found;
  const LinkPolicy how = t.args[4] & AT_SYMLINK_FOLLOW ? LinkPolicy::follow : LinkPolicy::no_follow;
  if (t.args[4] & ~uint64_t{AT_SYMLINK_FOLLOW | AT_EMPTY_PATH}) co_return -EINVAL;
  int64_t error = co_await find(os, t, t.args[0], t.args[1], how, found, t.args[4]);
  if (error < 0) co_return error;
  error = co_await enter_new(os, t, t.args[2], t.args[3], found.node);
  if (error == 0) ++found.node->links;
  co_return error;
}

Work mkdirat(Linux& os, Task& t) {
  const InodeRef node = os.files.tree.make(Inode::Kind::directory, masked_mode(os, t.args[2]));
  co_return co_await enter_new(os, t, t.args[0], t.args[1], node, true);
}

Work unlinkat(Linux& os, Task& t) {
  const bool directory = t.args[2] & AT_REMOVEDIR;
  Found found;
  if (t.args[2] & ~uint64_t{AT_REMOVEDIR}) co_return -EINVAL;
  const int64_t error = co_await walk(os, t, t.args[0], t.args[1], LinkPolicy::name_only, found);
  if (error < 0) co_return error;
  if (found.name.empty() && directory)
    co_return found.last.empty() ? -EBUSY : found.last == "." ? -EINVAL : -ENOTEMPTY;
  if (found.name.empty()) co_return -EISDIR;
  if (found.is_too_long()) co_return -ENAMETOOLONG;
  if (!found.node) co_return -ENOENT;
  if (!directory && found.node->is_directory()) co_return -EISDIR;
  if ((directory || found.slash) && !found.node->is_directory()) co_return -ENOTDIR;
  if (found.directory->sealed) co_return -EROFS;
  if (!found.node->entries.empty()) co_return -ENOTEMPTY;
  os.files.tree.remove(found.directory, found.name);
  co_return 0;
}

Work renameat2(Linux& os, Task& t) {
  constexpr uint64_t kExclusiveFlags = RENAME_NOREPLACE | RENAME_EXCHANGE;
  Found from, to;
  if ((t.args[4] & ~kExclusiveFlags) || (t.args[4] & kExclusiveFlags) == kExclusiveFlags)
    co_return -EINVAL;
  int64_t error = co_await walk(os, t, t.args[0], t.args[1], LinkPolicy::name_only, from);
  if (error == 0) error = co_await walk(os, t, t.args[2], t.args[3], LinkPolicy::name_only, to);
  if (error < 0) co_return error;
  FileTree& tree = os.files.tree;
  if (const int64_t may = may_replace(tree, from, to, t.args[4]); may < 0) co_return may;
  if (from.node == to.node) co_return 0;
  ++from.node->links;
  if (to.node) ++to.node->links, tree.remove(to.directory, to.name);
  tree.remove(from.directory, from.name);
  tree.enter(to.directory, to.name, from.node);
  if (t.args[4] & RENAME_EXCHANGE)
    tree.enter(from.directory, from.name, to.node);
  else if (to.node)
    --to.node->links;
  co_return 0;
}

Work chdir(Linux& os, Task& t) {
  Found found;
  const int64_t error = co_await find(os, t, AT_FDCWD, t.args[0], LinkPolicy::follow, found);
  if (error < 0) co_return error;
  if (!found.node->is_directory()) co_return -ENOTDIR;
  os.files.working = found.node;
  co_return 0;
}

Work fchdir(Linux& os, Task& t) {
  const OpenFileRef file = os.files.any_at(t.args[0]);
  if (!file) co_return -EBADF;
  if (!file->inode() || !file->inode()->is_directory()) co_return -ENOTDIR;
  os.files.working = file->inode();
  co_return 0;
}

Work getcwd(Linux& os, Task& t) {
  const std::string path = os.files.tree.path_of(os.files.working);
  const std::size_t size = path.size() + 1;
  if (path.empty()) co_return -ENOENT;
  if (size > FileTree::kLongestPath) co_return -ENAMETOOLONG;
  if (t.args[1] < size) co_return -ERANGE;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(path.c_str());
  const int64_t error = co_await os.memory.copy_out(t, {bytes, size}, t.args[0]);
  co_return error < 0 ? error : static_cast<int64_t>(size);
}

Work umask(Linux& os, Task& t) {
  const uint32_t before = os.files.mask;
  os.files.mask = static_cast<uint32_t>(t.args[0] & 0777);
  co_return before;
}

Work fchmodat(Linux& os, Task& t) {
  Found found;
  const int64_t error = co_await find(os, t, t.args[0], t.args[1], LinkPolicy::follow, found);
  if (error < 0) co_return error;
  if (found.node->sealed) co_return -EROFS;
  if (!may_change_mode(*found.node, t.args[2])) co_return -EPERM;
  found.node->mode = static_cast<uint32_t>(t.args[2] & 07777);
  co_return 0;
}

Work truncate(Linux& os, Task& t) {
  Found found;
  if (static_cast<int64_t>(t.args[1]) < 0) co_return -EINVAL;
  const int64_t error = co_await find(os, t, AT_FDCWD, t.args[0], LinkPolicy::follow, found);
  if (error < 0) co_return error;
  if (found.node->sealed) co_return -EROFS;
  if (found.node->is_directory()) co_return -EISDIR;
  co_return co_await resize(os, t, found.node, t.args[1]);
}

namespace {

// Returns whether the two timespecs of utimensat can be read. A null pointer means now.
bool are_times_readable(const Linux& os, uint64_t from) {
  std::array<uint8_t, 32> times{};
  return !from || os.memory.peek(from, times);
}
bool are_times_valid(const Linux& os, uint64_t from) {
  constexpr uint64_t kNsPerSecond = 1'000'000'000, kNow = (1 << 30) - 1,
                     kOmit = (1 << 30) - 2;  // ns
  std::array<uint64_t, 4> times{};
  if (from) os.memory.peek(from, {reinterpret_cast<uint8_t*>(times.data()), sizeof times});
  const auto is_time = [](uint64_t ns) { return ns < kNsPerSecond || ns == kNow || ns == kOmit; };
  return is_time(times[1]) && is_time(times[3]);
}

}  // namespace

// Checks the arguments and finds the file, but changes nothing: file times are not stored.
Work utimensat(Linux& os, Task& t) {
  const uint64_t flags = t.args[3];
  Found found;
  if (!are_times_readable(os, t.args[2])) co_return -EFAULT;
  if (!t.args[1] && !is_working(t.args[0])) {
    const OpenFileRef file = os.files.at(t.args[0]);
    if (flags) co_return -EINVAL;
    if (!file) co_return -EBADF;
    if (!are_times_valid(os, t.args[2])) co_return -EINVAL;
    co_return file->is_anonymous() ? -EOPNOTSUPP : 0;
  }
  if (flags & ~uint64_t{AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH}) co_return -EINVAL;
  const LinkPolicy how = flags & AT_SYMLINK_NOFOLLOW ? LinkPolicy::no_follow : LinkPolicy::follow;
  const int64_t error = co_await find(os, t, t.args[0], t.args[1], how, found, flags);
  if (error < 0) co_return error;
  if (!are_times_valid(os, t.args[2])) co_return -EINVAL;
  co_return found.node->sealed ? -EROFS : 0;
}

// Checks the arguments and finds the file, but changes nothing: owners are not stored.
Work fchownat(Linux& os, Task& t) {
  const uint64_t flags = t.args[4];
  Found found;
  if (flags & ~uint64_t{AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH}) co_return -EINVAL;
  const LinkPolicy how = flags & AT_SYMLINK_NOFOLLOW ? LinkPolicy::no_follow : LinkPolicy::follow;
  const int64_t error = co_await find(os, t, t.args[0], t.args[1], how, found, flags);
  if (error < 0) co_return error;
  co_return found.node->sealed ? -EROFS : 0;
}

Work getdents64(Linux& os, Task& t) {
  constexpr uint8_t kDirentTypes[] = {8, 4, 10,
                                      2, 8, 12};  // DT_REG, _DIR, _LNK, _CHR, _SOCK; by kind
  constexpr std::size_t kHeadBytes = 19;          // d_ino, d_off, d_reclen, d_type
  const OpenFileRef file = os.files.at(t.args[0]);
  if (!file) co_return -EBADF;
  const InodeRef directory = file->inode();
  if (!directory || !directory->is_directory()) co_return -ENOTDIR;
  if (directory->is_removed()) co_return -ENOENT;
  const InodeRef above = directory->parent.lock();
  std::vector<std::pair<std::string, InodeRef>> entries = {{".", directory},
                                                           {"..", above ? above : directory}};
  entries.insert(entries.end(), directory->entries.begin(), directory->entries.end());
  std::vector<uint8_t> all;
  for (; file->offset < entries.size(); ++file->offset) {
    const auto& [name, node] = entries[file->offset];
    const std::size_t begin = all.size(), size = (kHeadBytes + name.size() + 1 + 7) / 8 * 8;
    if (begin + size > t.args[2]) break;
    all.resize(begin + size);
    const uint64_t head[2] = {node->number, file->offset + 1};
    const auto length = static_cast<uint16_t>(size);
    std::memcpy(&all[begin], head, sizeof head);
    std::memcpy(&all[begin + 16], &length, sizeof length);
    all[begin + 18] = kDirentTypes[static_cast<std::size_t>(node->kind)];
    std::memcpy(&all[begin + kHeadBytes], name.data(), name.size());
  }
  if (all.empty()) co_return file->offset < entries.size() ? -EINVAL : 0;
  const int64_t error = co_await os.memory.copy_out(t, all, t.args[1]);
  co_return error < 0 ? error : static_cast<int64_t>(all.size());
}

}  // namespace uncore::calls
