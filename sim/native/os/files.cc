#include "os/files.hh"

#include <utility>

#include "os/file_kinds.hh"
#include "os/uapi.hh"

namespace uncore {

Files::Files(const std::vector<FileSpec>& files) : tree(files) {
  for (const bool output : {false, true, true})
    set(descriptors_.size(), std::make_shared<ConsoleFile>(output));
}

OpenFileRef Files::at(uint64_t descriptor) const {
  return descriptor < descriptors_.size() ? descriptors_[descriptor] : OpenFileRef();
}

int64_t Files::open(OpenFileRef file, uint64_t limit, uint64_t lowest) {
  uint64_t descriptor = lowest;
  while (at(descriptor)) ++descriptor;
  if (descriptor >= limit) return -EMFILE;
  set(descriptor, std::move(file));
  return static_cast<int64_t>(descriptor);
}

OpenFileRef Files::set(uint64_t descriptor, OpenFileRef file) {
  if (descriptor >= descriptors_.size()) descriptors_.resize(descriptor + 1);
  if (file) ++file->descriptors;
  const OpenFileRef before = std::exchange(descriptors_[descriptor], std::move(file));
  if (before) --before->descriptors;
  return before;
}

}  // namespace uncore
