// The lock of flock(2) on a whole file, exclusive or shared. Its holder is an open file
// description, so all descriptors made by dup share it.
#pragma once

#include <algorithm>
#include <vector>

#include "os/open_file.hh"

namespace uncore {

class FileLock {
 public:
  WaitQueue waits;  // tasks that wait for the lock

  bool held_by(const OpenFile& file) const { return std::ranges::count(holders_, &file) > 0; }
  bool is_exclusive() const { return exclusive_; }
  // Takes the lock, exclusively if `exclusive`. Returns false if the present holders do not allow
  // that.
  bool take(const OpenFile& file, bool exclusive) {
    if (!holders_.empty() && (exclusive || exclusive_)) return false;
    holders_.push_back(&file), exclusive_ = exclusive;
    return true;
  }
  void release(const OpenFile& file) { std::erase(holders_, &file); }

 private:
  std::vector<const OpenFile*> holders_;
  bool exclusive_ = false;
};

}  // namespace uncore
