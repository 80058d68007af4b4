// An open file or directory of the file tree.
#pragma once

#include <algorithm>

#include "os/open_file.hh"

namespace uncore {

class TreeFile : public OpenFile {
 public:
  TreeFile(InodeRef inode, uint64_t flags) : OpenFile(flags), inode_(std::move(inode)) {}

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t& offset) override;
  Work write(Linux& os, Task& t, UserBuffer from, uint64_t& offset) override;
  Stat stat() const override { return Stat::of(*inode_); }
  Work hang_up(Linux& os, Task& t) override;
  const InodeRef& inode() const override { return inode_; }
  bool is_watchable() const override { return false; }
  bool is_seekable() const override { return true; }
  int64_t readable_bytes() const override {
    if (!is_regular()) return -1;
    return static_cast<int64_t>(inode_->data.size() - std::min(offset, inode_->data.size()));
  }

 private:
  const InodeRef inode_;
};

// Releases the open file's lock (flock), if it holds one, and wakes the tasks that wait for it.
Work unlock(Linux& os, Task& t, const OpenFile& file);
// Changes the size of a file, and updates its mapped pages.
Work resize(Linux& os, Task& t, InodeRef file, uint64_t size);
// Makes bytes of a file zero, and updates its mapped pages.
Work clear(Linux& os, Task& t, InodeRef file, uint64_t begin, uint64_t end);

}  // namespace uncore
