// The files that a program finds, all of them read-only and there when the run begins: a folder of
// the user's, and those that describe the machine (/proc, /sys).
//
// Interface: find() a path, entries() of a directory. Invariant: a Node stays where it is.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "spec/spec.hh"

namespace uncore {

class FileTree {
 public:
  static constexpr std::string_view kWorkingDirectory = "/files";  // the folder that --files names

  struct Node {
    std::string_view path;
    bool directory = false;
    std::string_view data;  // of a file
    uint64_t number = 0;    // st_ino
  };

  explicit FileTree(const std::vector<FileSpec>& files);

  // A path from the root, however it is written; null: there is no such file.
  const Node* find(std::string_view path) const;
  // Names in a directory, in their order.
  std::vector<std::string> entries(const Node& directory) const;
  static std::string absolute(std::string_view path);

 private:
  std::map<std::string, Node, std::less<>> nodes_;
};

}  // namespace uncore
