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

  // Of a descriptor, as Linux, the lower 32 bits count. Empty: it is not open, or opened with
  // O_PATH.
  OpenFileRef at(uint64_t descriptor) const;
  // As at(), but with files that were opened with O_PATH.
  OpenFileRef any_at(uint64_t descriptor) const;
  // Returns the file's new descriptor, the lowest free one from `lowest` on; -EMFILE: that would
  // not be below the limit. `flags`: O_CLOEXEC counts.
  int64_t open(OpenFileRef file, uint64_t limit, uint64_t flags = 0, uint64_t lowest = 0);
  bool has_room(uint64_t limit) const;
  // Returns the descriptor's former file. If that was its last descriptor, the caller hangs it up.
  OpenFileRef set(uint64_t descriptor, OpenFileRef file, uint64_t flags = 0);
  // Closes all descriptors of a file that nobody has used yet.
  void drop(const OpenFileRef& file);
  bool closes_on_exec(uint64_t descriptor) const;
  void close_on_exec(uint64_t descriptor, bool closes);

 private:
  uint64_t lowest_free(uint64_t from) const;

  std::vector<OpenFileRef> descriptors_;
  std::vector<bool> closing_;  // on exec
};

}  // namespace uncore
