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
  // If the job has a file with this path, descriptor 0 is open on it.
  static constexpr std::string_view kStandardInput = "/dev/stdin";

  Files(const std::vector<FileSpec>& files, std::string_view program);

  FileTree tree;
  InodeRef working;     // the current working directory
  uint32_t mask = 022;  // umask

  // Returns a descriptor's file, or an empty reference if it is not open or was opened with O_PATH.
  // Only the lower 32 bits of a descriptor count, as in Linux.
  OpenFileRef at(uint64_t descriptor) const;
  // Does the same as at(), but also returns files that were opened with O_PATH.
  OpenFileRef any_at(uint64_t descriptor) const;
  // Gives the file the lowest free descriptor that is `lowest` or higher, and returns it. Returns
  // -EMFILE if that is not below `limit`. Only O_CLOEXEC of `flags` is used.
  int64_t open(OpenFileRef file, uint64_t limit, uint64_t flags = 0, uint64_t lowest = 0);
  bool has_room(uint64_t limit) const;
  // Makes a descriptor refer to `file`; null closes it. Returns the former file, which the caller
  // must hang up if this was its last descriptor.
  OpenFileRef set(uint64_t descriptor, OpenFileRef file, uint64_t flags = 0);
  // Closes all descriptors of a file without hanging it up, because no task has used it yet.
  void drop(const OpenFileRef& file);
  bool is_close_on_exec(uint64_t descriptor) const;
  void set_close_on_exec(uint64_t descriptor, bool closes);

 private:
  uint64_t lowest_free(uint64_t from) const;

  std::vector<OpenFileRef> descriptors_;
  std::vector<bool> close_on_exec_;  // for each descriptor: FD_CLOEXEC
};

}  // namespace uncore
