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
                                 0020000, 0100000, 0140000};  // index: Inode::Kind
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
  const OpenFileRef file = any_at(descriptor);
  return file && (file->flags & O_PATH) ? OpenFileRef() : file;
}

OpenFileRef Files::any_at(uint64_t descriptor) const {
  const auto number = static_cast<uint32_t>(descriptor);
  return number < descriptors_.size() ? descriptors_[number] : OpenFileRef();
}

uint64_t Files::lowest_free(uint64_t from) const {
  while (from < descriptors_.size() && descriptors_[from]) ++from;
  return from;
}

bool Files::has_room(uint64_t limit) const { return lowest_free(0) < limit; }

int64_t Files::open(OpenFileRef file, uint64_t limit, uint64_t flags, uint64_t lowest) {
  const uint64_t descriptor = lowest_free(lowest);
  if (descriptor >= limit) return -EMFILE;
  set(descriptor, std::move(file), flags);
  return static_cast<int64_t>(descriptor);
}

void Files::drop(const OpenFileRef& file) {
  for (uint64_t descriptor = 0; descriptor < descriptors_.size(); ++descriptor)
    if (descriptors_[descriptor] == file) set(descriptor, {});
}

bool Files::is_close_on_exec(uint64_t descriptor) const {
  return close_on_exec_[static_cast<uint32_t>(descriptor)];
}
void Files::set_close_on_exec(uint64_t descriptor, bool closes) {
  close_on_exec_[static_cast<uint32_t>(descriptor)] = closes;
}

OpenFileRef Files::set(uint64_t descriptor, OpenFileRef file, uint64_t flags) {
  if (descriptor >= descriptors_.size())
    descriptors_.resize(descriptor + 1), close_on_exec_.resize(descriptor + 1);
  close_on_exec_[descriptor] = file && (flags & O_CLOEXEC);
  if (file) ++file->descriptors;
  const OpenFileRef former = std::exchange(descriptors_[descriptor], std::move(file));
  if (former) --former->descriptors;
  return former;
}

}  // namespace uncore
