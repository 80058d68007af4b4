#include "os/file_tree.hh"

#include <algorithm>

#include "os/device_files.hh"
#include "os/proc_files.hh"
#include "os/uapi.hh"

namespace uncore {
namespace {

constexpr uint32_t kFile = 0644, kDirectory = 0755, kShared = 01777, kReadOnly = 0444,
                   kDevice = 0666;
constexpr unsigned kMostLinks = 40;  // MAXSYMLINKS

// Splits a path into its first component and the rest.
std::pair<std::string_view, std::string_view> first_part(std::string_view path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  const std::size_t end = std::min(path.find('/'), path.size());
  return {path.substr(0, end), path.substr(end)};
}

FileTree::Found failure(int64_t error) {
  FileTree::Found nothing;
  nothing.error = error;
  return nothing;
}

}  // namespace

FileTree::FileTree(const std::vector<FileSpec>& files, std::string_view program) {
  root_ = make(Inode::Kind::directory, kDirectory);
  for (const FileSpec& file : files) {
    const std::string_view path(reinterpret_cast<const char*>(file.path.data()), file.path.size());
    const auto* const begin = reinterpret_cast<const char*>(file.data.data());
    if (path.ends_with('/'))
      directory_for(path, kDirectory);  // an empty directory
    else
      place(path, make(Inode::Kind::file, kFile, {begin, file.data.size()}));
  }
  directory_for(kWorkingDirectory, kDirectory);
  for (const char* const path : {"/tmp", "/dev/shm", "/var/tmp"}) directory_for(path, kShared);
  add_devices();
  add_process(program);
  for (const char* const path : {"/proc", "/sys"})
    if (const InodeRef node = find(path)) seal(*node);
}

void FileTree::add_devices() {
  for (const auto& [name, minor] : kDevices) {
    const InodeRef device = make(Inode::Kind::device, kDevice);
    device->device = minor;
    place(std::string("/dev/") + name, device);
  }
}

void FileTree::add_process(std::string_view program) {
  for (const auto& [name, function] : kProcFiles) {
    const InodeRef file = make(Inode::Kind::generated, kReadOnly);
    file->make = function;
    place(std::string("/proc/") + name, file);
  }
  const InodeRef exe = make(Inode::Kind::link, 0777);
  exe->target = program;
  place("/proc/self/exe", exe);
  enter(find("/proc"), std::to_string(kOwnProcess), find("/proc/self"));
}

void FileTree::seal(Inode& node) {
  node.sealed = true;
  node.mode &= ~uint32_t{0222};
  for (const auto& [name, inside] : node.entries)
    if (!inside->sealed) seal(*inside);
}

InodeRef FileTree::make(Inode::Kind kind, uint32_t mode, std::string_view given) {
  return std::make_shared<Inode>(kind, mode, ++numbers_, written_bytes_, given);
}

void FileTree::enter(const InodeRef& directory, const std::string& name, const InodeRef& node) {
  directory->entries[name] = node;
  if (node->is_directory() && node->parent.expired()) node->parent = directory;
}

void FileTree::remove(const InodeRef& directory, const std::string& name) {
  const InodeRef node = directory->entries[name];
  directory->entries.erase(name);
  if (node->is_directory()) node->parent.reset();
  --node->links;
}

InodeRef FileTree::directory_for(std::string_view path, uint32_t mode) {
  InodeRef directory = root_;
  for (auto [name, rest] = first_part(path); !name.empty();) {
    InodeRef& next = directory->entries[std::string(name)];
    if (!next) {
      next = make(Inode::Kind::directory, first_part(rest).first.empty() ? mode : kDirectory);
      next->parent = directory;
    }
    directory = next;
    std::tie(name, rest) = first_part(rest);
  }
  return directory;
}

void FileTree::place(std::string_view path, const InodeRef& node) {
  const std::size_t slash = path.rfind('/');
  enter(directory_for(path.substr(0, slash), kDirectory), std::string(path.substr(slash + 1)),
        node);
}

FileTree::Found FileTree::walk(const InodeRef& from, std::string_view path,
                               LinkPolicy link_policy) const {
  std::string remaining(path);
  InodeRef node = path.starts_with('/') ? root_ : from;
  for (unsigned links = 0;;) {
    const auto [name, rest] = first_part(remaining);
    const bool is_last = first_part(rest).first.empty(), slash = !rest.empty();
    const bool follows =
        link_policy == LinkPolicy::follow ||
        (slash ? link_policy == LinkPolicy::no_follow : link_policy == LinkPolicy::create);
    if (!node->is_directory()) return failure(-ENOTDIR);
    const bool returns_name_only = is_last && link_policy == LinkPolicy::name_only;
    if (name.size() > kLongestName && !returns_name_only) return failure(-ENAMETOOLONG);
    if (name.empty() || name == "." || name == "..") {
      const InodeRef above = name == ".." ? node->parent.lock() : node;
      node = above ? above : node;
      if (is_last) return {.directory = node, .name = {}, .node = node, .last = std::string(name)};
      remaining = std::string(rest);
      continue;
    }
    const auto entry = node->entries.find(name);
    const InodeRef next = entry == node->entries.end() ? nullptr : entry->second;
    if (next && next->kind == Inode::Kind::link && (!is_last || follows)) {
      if (++links > kMostLinks) return failure(-ELOOP);
      if (next->target.starts_with('/')) node = root_;
      remaining = next->target + std::string(rest);
      continue;
    }
    const std::string own_name(name);
    if (is_last)
      return {.directory = node, .name = own_name, .node = next, .last = own_name, .slash = slash};
    if (!next) return failure(-ENOENT);
    node = next;
    remaining = std::string(rest);
  }
}

std::string FileTree::path_of(const InodeRef& directory) const {
  std::string path;
  for (InodeRef node = directory; node != root_ && path.size() <= kLongestPath;) {
    const InodeRef above = node->parent.lock();
    if (!above) return {};
    const auto entry_of_node = std::ranges::find_if(
        above->entries, [&](const auto& entry) { return entry.second == node; });
    if (entry_of_node == above->entries.end()) return {};
    path = "/" + entry_of_node->first + path;
    node = above;
  }
  return path.empty() ? "/" : path;
}

// Iterates with an explicit list of directories to visit, because a program may nest directories
// too deeply for recursion.
std::vector<std::pair<std::string, InodeRef>> FileTree::changed() const {
  std::vector<std::pair<std::string, InodeRef>> all, left = {{"", root_}};
  while (!left.empty()) {
    const auto [path, directory] = std::move(left.back());
    left.pop_back();
    if (path.size() > kLongestPath) continue;
    for (const auto& [name, node] : directory->entries) {
      if (node->sealed) continue;
      const bool changed = node->kind == Inode::Kind::file && node->data.is_changed();
      if (changed) all.emplace_back(path + "/" + name, node);
      if (node->is_directory()) left.emplace_back(path + "/" + name, node);
    }
  }
  std::ranges::sort(all, {}, &std::pair<std::string, InodeRef>::first);
  return all;
}

}  // namespace uncore
