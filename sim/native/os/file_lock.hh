// flock: a lock of a whole file, exclusive or shared. An open file holds it for all its
// descriptors.
#pragma once

#include <algorithm>
#include <vector>

#include "os/open_file.hh"

namespace uncore {

class FileLock {
 public:
  WaitQueue waits;  // for its release

  bool held_by(const OpenFile& file) const { return std::ranges::count(holders_, &file) > 0; }
  bool is_alone() const { return alone_; }
  // False: other holders prevent it.
  bool take(const OpenFile& file, bool alone) {
    if (!holders_.empty() && (alone || alone_)) return false;
    holders_.push_back(&file), alone_ = alone;
    return true;
  }
  void release(const OpenFile& file) { std::erase(holders_, &file); }

 private:
  std::vector<const OpenFile*> holders_;
  bool alone_ = false;
};

}  // namespace uncore
