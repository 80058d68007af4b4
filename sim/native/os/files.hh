// The descriptors of the process (Linux's files_struct). The first three are the standard streams.
//
// Interface: at() returns a descriptor's file; the reference keeps the file alive even if the
// descriptor is closed. open() gives a file the lowest free descriptor, set() a given one; set() to
// null closes a descriptor.
#pragma once

#include <cstdint>
#include <vector>

#include "os/file_tree.hh"
#include "os/open_file.hh"

namespace uncore {

class Files {
 public:
  // The path of the job's file, if there is one, that the program finds open as descriptor 0.
  static constexpr std::string_view kStandardInput = "/dev/stdin";

  Files(const std::vector<FileSpec>& files, std::string_view program);

  FileTree tree;
  InodeRef working;     // the current working directory
  uint32_t mask = 022;  // umask

  // Returns the descriptor's file; empty if the descriptor is not open.
  OpenFileRef at(uint64_t descriptor) const;
  // Returns the file's new descriptor, the lowest free one from `lowest` on, or -EMFILE if that is
  // not below the limit.
  int64_t open(OpenFileRef file, uint64_t limit, uint64_t lowest = 0);
  // Returns the descriptor's former file. If no descriptor refers to that file any more, the caller
  // must call its hang_up().
  OpenFileRef set(uint64_t descriptor, OpenFileRef file);

 private:
  std::vector<OpenFileRef> descriptors_;
};

}  // namespace uncore
