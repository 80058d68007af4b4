// The program's file system: the user's folder as /files, the read-only /proc and /sys that
// describe the machine, and files that the program makes. All of it is in memory.
//
// Interface: walk() along a path; make() a node, enter() and remove() names; path_of() a directory;
// changed() files, for whoever saves them. Invariant: a directory has one name at most, and knows
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
    int64_t error = 0;   // not 0: the walk failed, and the rest is empty
    InodeRef directory;  // the one that has the last name, or could have it
    std::string name;    // the last name; empty: the path ends at a directory, `node`
    InodeRef node;       // null: there is no such name
    std::string last{};  // the path's last part: the name, "." or ".."; empty: the path is the root
    bool slash = false;  // the path ends with a slash, as "name/"

    bool is_too_long() const { return name.size() > kLongestName; }
  };

  FileTree(const std::vector<FileSpec>& files, std::string_view program);

  const InodeRef& root() const { return root_; }
  // The choices of walk() if the last name is a symbolic link: follows it; returns the link itself,
  // unless a slash follows; returns it always, because the call wants the name; follows it unless a
  // slash follows, because the call may make a file there.
  enum class Last : uint8_t { followed, found, named, made };
  // Walks along a path, from a directory.
  Found walk(const InodeRef& from, std::string_view path, Last how) const;
  // Returns the node at a path from the root; null: there is none.
  InodeRef find(std::string_view path) const { return walk(root_, path, Last::followed).node; }

  InodeRef make(Inode::Kind kind, uint32_t mode, std::string_view given = {});
  void enter(const InodeRef& directory, const std::string& name, const InodeRef& node);
  void remove(const InodeRef& directory, const std::string& name);
  // Returns a directory's path; empty: it has no name any more. Of a path above about kLongestPath
  // letters it returns the end.
  std::string path_of(const InodeRef& directory) const;

  uint64_t kept() const { return *kept_; }
  // Returns the files with a name that the program has made or changed, and their paths.
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
