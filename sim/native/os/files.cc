#include "os/files.hh"

#include <utility>

#include "os/console_file.hh"
#include "os/linux.hh"
#include "os/tree_file.hh"
#include "os/uapi.hh"

namespace uncore {

Files::Files(const std::vector<FileSpec>& files, std::string_view program)
    : tree(files, program), working(tree.find(FileTree::kWorkingDirectory)) {
  const InodeRef input = tree.find(kStandardInput);
  if (input)
    set(0, std::make_shared<TreeFile>(input, O_RDONLY));
  else
    set(0, std::make_shared<ConsoleFile>(false));
  for (uint64_t output : {1, 2}) set(output, std::make_shared<ConsoleFile>(true));
}

Stat Stat::of(const Inode& inode) {
  constexpr uint32_t kKinds[] = {0100000, 0040000, 0120000,
                                 0020000, 0100000, 0140000};  // by Inode::Kind
  Stat s;
  s.number = inode.number;
  s.mode = kKinds[static_cast<std::size_t>(inode.kind)] | inode.mode;
  s.links = inode.links;
  s.user = s.group = Linux::kUser;
  if (inode.device) s.of_device = 1 << 8 | inode.device;
  const uint64_t size = inode.kind == Inode::Kind::link ? inode.target.size() : inode.data.size();
  s.size = static_cast<int64_t>(size);
  s.blocks = (s.size + 511) / 512;
  return s;
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
