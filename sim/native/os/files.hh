// The descriptors of the process: Linux's files_struct. The first three are the standard streams.
//
// Interface: at() a descriptor, as a reference that outlives the descriptor; open() at the lowest
// descriptor that is free, set() at a certain one, to nothing where it is closed.
#pragma once

#include <cstdint>
#include <vector>

#include "os/file_tree.hh"
#include "os/open_file.hh"

namespace uncore {

class Files {
 public:
  // A file of the job, if it has one, that the program finds open as descriptor 0.
  static constexpr std::string_view kStandardInput = "/dev/stdin";

  Files(const std::vector<FileSpec>& files, std::string_view program);

  FileTree tree;
  InodeRef working;     // the directory where paths begin
  uint32_t mask = 022;  // umask

  // Empty: the descriptor is not open.
  OpenFileRef at(uint64_t descriptor) const;
  // Returns the lowest free descriptor from `lowest` on; -EMFILE: that is not below the limit.
  int64_t open(OpenFileRef file, uint64_t limit, uint64_t lowest = 0);
  // Returns what the descriptor was before; whoever takes a file's last descriptor hangs up.
  OpenFileRef set(uint64_t descriptor, OpenFileRef file);

 private:
  std::vector<OpenFileRef> descriptors_;
};

}  // namespace uncore
