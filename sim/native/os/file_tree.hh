// The program's file system: the user's folder as /files, the read-only /proc and /sys that
// describe the machine, and the files that the program creates. All of it is in memory.
//
// Interface: walk() along a path; make() a node, enter() and remove() names; path_of() a directory;
// changed() files, which the caller may save. Invariant: a directory has at most one name, and
// refers to its parent.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/inode.hh"
#include "spec/file_spec.hh"

namespace uncore {

class FileTree {
 public:
  static constexpr std::size_t kLongestName = 255, kLongestPath = 4096;

  static constexpr std::string_view kWorkingDirectory = "/files";  // holds the folder of --files

  struct Found {
    int64_t error = 0;   // if not 0, the walk has failed, and the other fields are empty
    InodeRef directory;  // the directory that has the last name, or in which it would be made
    std::string name;    // the last name; empty if the path ends with the root, "." or ".."
    InodeRef node;       // the node at the path; null if the last name does not exist
    std::string last{};  // the path's last component: the name, "." or ".."; empty for the root
    bool slash = false;  // the path ends with a slash, as "name/"

    bool is_too_long() const { return name.size() > kLongestName; }
  };

  FileTree(const std::vector<FileSpec>& files, std::string_view program);

  const InodeRef& root() const { return root_; }
  // Decides what walk() does if the last component is a symbolic link:
  //   follow     follows it
  //   no_follow  returns the link itself, but follows it if a slash comes after it
  //   name_only  returns the link itself in any case, because the call changes its directory entry
  //   create     follows it, but returns the link if a slash comes after it (O_CREAT)
  enum class LinkPolicy : uint8_t { follow, no_follow, name_only, create };
  // Walks along a path, from a directory.
  Found walk(const InodeRef& from, std::string_view path, LinkPolicy link_policy) const;
  // Returns the node at an absolute path, or null.
  InodeRef find(std::string_view path) const { return walk(root_, path, LinkPolicy::follow).node; }

  InodeRef make(Inode::Kind kind, uint32_t mode, std::string_view given = {});
  void enter(const InodeRef& directory, const std::string& name, const InodeRef& node);
  void remove(const InodeRef& directory, const std::string& name);
  // Returns a directory's path; empty if the directory has been removed. Of a path longer than
  // about kLongestPath bytes it returns only the last part.
  std::string path_of(const InodeRef& directory) const;

  uint64_t written_bytes() const { return *written_bytes_; }
  // Returns the files that the program has made or changed and that still have a name, with their
  // paths.
  std::vector<std::pair<std::string, InodeRef>> changed() const;

 private:
  InodeRef directory_for(std::string_view path, uint32_t mode);
  void place(std::string_view path, const InodeRef& node);
  void add_devices();
  void add_process(std::string_view program);
  static void seal(Inode& node);

  const std::shared_ptr<uint64_t> written_bytes_ = std::make_shared<uint64_t>(0);
  uint64_t numbers_ = 0;
  InodeRef root_;
};

}  // namespace uncore
