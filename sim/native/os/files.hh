// The descriptors of the process: Linux's files_struct. The first three are the standard streams.
//
// Interface: at() a descriptor, in a reference that outlives it; open() the lowest that is free,
// set() a certain one, close().
#pragma once

#include <cstdint>
#include <vector>

#include "os/open_file.hh"

namespace uncore {

class Files {
 public:
  explicit Files(const std::vector<FileSpec>& files);

  const FileTree tree;

  // Empty: it is not open.
  OpenFileRef at(uint64_t descriptor) const;
  // The lowest from `lowest` on that is free; -EMFILE: it is not below the limit.
  int64_t open(OpenFileRef file, uint64_t limit, uint64_t lowest = 0);
  void set(uint64_t descriptor, OpenFileRef file);
  bool close(uint64_t descriptor);

 private:
  std::vector<OpenFileRef> descriptors_;
};

}  // namespace uncore
