// The kinds of open files that openat and the standard streams make.
#pragma once

#include "os/open_file.hh"

namespace uncore {

// A file or directory of the tree: read-only.
class TreeFile : public OpenFile {
 public:
  explicit TreeFile(const FileTree::Node& node) : OpenFile(O_RDONLY), node_(node) {}

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t& at) override;
  Work write(Linux& os, Task& t, UserBuffer from) override;
  Stat stat() const override { return stat_of(node_); }
  const FileTree::Node* node() const override { return &node_; }
  bool is_watchable() const override { return false; }

  static Stat stat_of(const FileTree::Node& node);

 private:
  const FileTree::Node& node_;
};

// A standard stream. The input is empty.
class ConsoleFile : public OpenFile {
 public:
  explicit ConsoleFile(bool output) : OpenFile(O_RDWR), output_(output) {}

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t& at) override;
  Work write(Linux& os, Task& t, UserBuffer from) override;
  Stat stat() const override;

 private:
  const bool output_;
};

}  // namespace uncore
