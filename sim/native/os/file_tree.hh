// The program's file system: the user's folder as /files, what tells of the machine in /proc and
// /sys, which nobody changes, and what the program makes. All of it is in memory.
//
// Interface: walk() along a path; make(), enter(), remove() names; path_of() a directory;
// changed() files, for whoever keeps them. Invariant: a directory has one name at most, and knows
// its parent.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/inode.hh"
#include "spec/spec.hh"

namespace uncore {

class FileTree {
 public:
  static constexpr std::size_t kLongestName = 255, kLongestPath = 4096;

  static constexpr std::string_view kWorkingDirectory = "/files";  // the folder that --files names

  struct Found {
    int64_t error = 0;   // of the way there: then there is nothing else
    InodeRef directory;  // that has the last name, or could have it
    std::string name;    // the last name; empty: the path ends at a directory, `node`
    InodeRef node;       // null: there is no such name
    std::string last{};  // the path's last part: the name, "." or ".."; empty: the path is the root
    bool slash = false;  // something like "name/"
  };

  FileTree(const std::vector<FileSpec>& files, std::string_view program);

  const InodeRef& root() const { return root_; }
  // Says what becomes of a link that is the last name: it is followed; it is found, but not with a
  // slash behind it; it is found, because the call wants the name.
  enum class Last : uint8_t { followed, found, named };
  // From a directory along a path.
  Found walk(const InodeRef& from, std::string_view path, Last how) const;
  // What stands at a path from the root, and may be missing.
  InodeRef find(std::string_view path) const { return walk(root_, path, Last::followed).node; }

  InodeRef make(Inode::Kind kind, uint32_t mode, std::string_view given = {});
  void enter(const InodeRef& directory, const std::string& name, const InodeRef& node);
  void remove(const InodeRef& directory, const std::string& name);
  // Empty: it has no name any more. At most about kLongestPath letters, the last ones.
  std::string path_of(const InodeRef& directory) const;

  uint64_t kept() const { return *kept_; }
  // Files with a name that the program has made or changed, by their paths.
  std::vector<std::pair<std::string, InodeRef>> changed() const;

 private:
  InodeRef directory_for(std::string_view path, uint32_t mode);
  void place(std::string_view path, const InodeRef& node);
  void add_devices();
  void add_process(std::string_view program);
  static void seal(Inode& node);

  const std::shared_ptr<uint64_t> kept_ = std::make_shared<uint64_t>(0);
  uint64_t numbers_ = 0;
  InodeRef root_;
};

}  // namespace uncore
