// System calls on memory. Calls that change the address space take its lock (K4.2).
#include <algorithm>
#include <array>
#include <vector>

#include "os/calls.hh"
#include "os/device_files.hh"

namespace uncore::calls {
namespace {

using Space = AddressSpace;
enum : uint64_t {
  MAP_SHARED = 1,
  MAP_FIXED = 0x10,
  MAP_ANONYMOUS = 0x20,
  MAP_FIXED_NOREPLACE = 0x100000,
  MADV_DONTNEED = 4,
  MADV_FREE = 8,
  PROT_NONE = 0,
  MREMAP_MAYMOVE = 1,
  MREMAP_FIXED = 2,
};
constexpr uint64_t kAllRights = Space::read | Space::write | Space::execute;

// Returns whether the range begins at a page, is not empty, and lies in the user's half.
bool is_sound(uint64_t begin, uint64_t size) {
  return begin % Space::kPage == 0 && size > 0 && size <= Space::kEnd &&
         begin <= Space::kEnd - size;
}

// Finds addresses for mmap, if possible at the address that the call asks for, and sets `begin`.
Work find_range(Linux& os, Task& t, uint64_t& begin, uint64_t size) {
  const uint64_t flags = t.args[3];
  begin = t.args[0];
  if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
    if (!is_sound(begin, size)) co_return -EINVAL;
    if ((flags & MAP_FIXED_NOREPLACE) && !os.memory.space.is_free(begin, begin + size))
      co_return -EEXIST;
    co_await os.memory.drop(t, begin, begin + size);
    co_return 0;
  }
  if (!is_sound(begin, size) || begin == 0 || !os.memory.space.is_free(begin, begin + size))
    begin = os.memory.space.find_room(size);
  co_return begin ? 0 : -ENOMEM;
}

// Returns whether the new range of MREMAP_FIXED is valid and does not overlap the old one.
bool moves_apart(const std::array<uint64_t, 6>& args, uint64_t before, uint64_t after) {
  const uint64_t from = args[0], to = args[4];
  return (args[3] & MREMAP_MAYMOVE) && is_sound(to, after) &&
         (to + after <= from || from + before <= to);
}

// Finds the address to which mremap moves the pages, and sets `to`; leaves it if they can stay.
// Returns 0 or -ENOMEM.
int64_t find_place(Linux& os, const std::array<uint64_t, 6>& args, uint64_t before, uint64_t after,
                   uint64_t& to) {
  Space& space = os.memory.space;
  const uint64_t begin = args[0];
  if (args[3] & MREMAP_FIXED) {
    to = args[4];
    return space.area_at(begin)->file ? -ENOMEM : 0;
  }
  if (after <= before) return 0;
  if (is_sound(begin, after) && space.is_free(begin + before, begin + after)) return 0;
  const bool moves = (args[3] & MREMAP_MAYMOVE) && !space.area_at(begin)->file;
  to = moves ? space.find_room(after) : 0;
  return to ? 0 : -ENOMEM;
}

struct Range {
  uint64_t begin, end;
  uint64_t size() const { return end - begin; }
};
// Changes a mapping from one range to another: resizes it in place, or moves its pages.
Work resize(Linux& os, Task& t, Range from, Range to) {
  Space& space = os.memory.space;
  Space::Area area = *space.area_at(from.begin);
  area.end = to.end, area.base += to.begin - from.begin;
  if (from.begin == to.begin) {
    const uint64_t kept_end = std::min(from.end, to.end);
    if (to.end < from.end) co_await os.memory.drop(t, kept_end, from.end);
    space.unmap(kept_end, from.end);
    if (kept_end < to.end) space.map(kept_end, area);
    co_return 0;
  }
  co_await os.memory.drop(t, to.begin, to.end);
  space.map(to.begin, area);
  co_await os.memory.move(t, from.begin, from.begin + std::min(from.size(), to.size()), to.begin);
  co_await os.memory.drop(t, from.begin, from.end);
  space.unmap(from.begin, from.end);
  co_return 0;
}

// Maps a file as shared. All shared mappings of a file have the same base address (K14): the one
// that the file has already, the one that the call asks for, or one with room for the file to grow.
Work share(Linux& os, Task& t, const InodeRef& file, uint64_t size) {
  constexpr uint64_t kGrowthBytes = uint64_t{64} << 20;
  Space& space = os.memory.space;
  const uint64_t offset = t.args[5], whole = std::max(offset + size, Space::up(file->data.size()));
  const std::optional<uint64_t> base = space.base_of(file);
  uint64_t begin = base ? *base + offset : t.args[0];
  if (t.args[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
    if (base && begin != t.args[0]) co_return -ENOMEM;
    const int64_t failed = base ? 0 : co_await find_range(os, t, begin, size);
    if (failed < 0) co_return failed;
  } else if (!base) {
    begin = space.find_room(whole + kGrowthBytes);
    if (!begin) co_return -ENOMEM;
    begin += offset;
  }
  const unsigned rights = t.args[2] & kAllRights;
  const Space::Area area{begin + size, rights, file, begin - offset};
  if (!base) space.map(begin, area);
  if (base && !space.share(begin, area)) co_return -ENOMEM;
  co_return static_cast<int64_t>(begin);
}

// Sets `file` to the file that mmap maps, or null for anonymous memory. Sets `shared` to whether
// the file must be mapped as shared: not if its bytes cannot change, because it is read-only, or is
// open for reading only and was never changed.
Work file_to_map(Linux& os, Task& t, InodeRef& file, bool& shared) {
  constexpr int64_t kEacces = 13;
  if (t.args[3] & MAP_ANONYMOUS) co_return 0;
  const OpenFileRef open = os.files.at(t.args[4]);
  if (!open) co_return -EBADF;
  const bool writes = (open->flags & O_ACCMODE) == O_RDWR;
  shared = (t.args[3] & MAP_SHARED) != 0;
  if (!open->is_seekable()) co_return open->inode() && open->inode()->device == kZero ? 0 : -ENODEV;
  file = open->inode();
  if (file->is_directory()) co_return -ENODEV;
  if (shared && !writes && (t.args[2] & Space::write)) co_return -kEacces;
  shared = shared && (writes || file->data.is_changed()) && !file->sealed;
  co_return 0;
}

}  // namespace

Work mmap(Linux& os, Task& t) {
  const uint64_t size = Space::up(t.args[1]);
  InodeRef file;
  bool shared = false;
  if (size == 0 || size > Space::kEnd) co_return size ? -ENOMEM : -EINVAL;
  if (t.args[5] % Space::kPage || t.args[5] > FileData::kMaxFileBytes) co_return -EINVAL;
  int64_t failed = co_await file_to_map(os, t, file, shared);
  if (failed < 0) co_return failed;
  co_await os.locks.lock(t, kernel_lines::kSpace);
  uint64_t begin = 0;
  if (shared && file) {
    failed = co_await share(os, t, file, size);
    begin = static_cast<uint64_t>(failed);
  } else {
    failed = co_await find_range(os, t, begin, size);
    Space::Area area{begin + size, static_cast<unsigned>(t.args[2] & kAllRights)};
    area.source = file, area.base = begin - t.args[5];
    if (failed == 0) os.memory.space.map(begin, area);
  }
  co_await os.locks.unlock(t, kernel_lines::kSpace);
  co_return failed < 0 ? failed : static_cast<int64_t>(begin);
}

Work munmap(Linux& os, Task& t) {
  const uint64_t begin = t.args[0], size = Space::up(t.args[1]);
  if (!is_sound(begin, size)) co_return -EINVAL;
  co_await os.locks.lock(t, kernel_lines::kSpace);
  co_await os.memory.drop(t, begin, begin + size);
  os.memory.space.unmap(begin, begin + size);
  co_await os.locks.unlock(t, kernel_lines::kSpace);
  co_return 0;
}

// Changes the rights of pages. Pages with PROT_NONE are hidden, so that the next access to them
// traps and its right is checked.
Work mprotect(Linux& os, Task& t) {
  const uint64_t begin = t.args[0], size = Space::up(t.args[1]), end = begin + size;
  if (t.args[1] == 0) co_return 0;
  if (begin % Space::kPage != 0) co_return -EINVAL;
  if (!is_sound(begin, size)) co_return -ENOMEM;
  co_await os.locks.lock(t, kernel_lines::kSpace);
  const bool allowed = os.memory.space.protect(begin, end, t.args[2] & kAllRights);
  if (allowed && t.args[2] == PROT_NONE) os.memory.hide(begin, end);
  co_await os.locks.unlock(t, kernel_lines::kSpace);
  co_return allowed ? 0 : -ENOMEM;
}

Work brk(Linux& os, Task& t) {
  UserMemory& memory = os.memory;
  const uint64_t next = t.args[0];
  const uint64_t before = Space::up(memory.program_break), after = Space::up(next);
  if (next < os.context.process().heap || (after > before && !memory.space.is_free(before, after)))
    co_return static_cast<int64_t>(memory.program_break);
  co_await os.locks.lock(t, kernel_lines::kSpace);
  if (after < before) {
    co_await memory.drop(t, after, before);
    memory.space.unmap(after, before);
  } else if (after > before) {
    memory.space.map(before, {after, Space::read | Space::write});
  }
  memory.program_break = next;
  co_await os.locks.unlock(t, kernel_lines::kSpace);
  co_return static_cast<int64_t>(next);
}

// Drops pages for MADV_DONTNEED and MADV_FREE. Other advice has no effect that a program could see.
Work madvise(Linux& os, Task& t) {
  const uint64_t begin = t.args[0], size = Space::up(t.args[1]);
  if (size == 0) co_return 0;
  if (!is_sound(begin, size)) co_return -EINVAL;
  if (!os.memory.space.is_mapped(begin, begin + size)) co_return -ENOMEM;
  if (t.args[2] != MADV_DONTNEED && t.args[2] != MADV_FREE) co_return 0;
  co_await os.memory.drop(t, begin, begin + size);
  co_return 0;
}

// Grows or shrinks a mapping, in place if possible; else moves its pages with their bytes (K14).
Work mremap(Linux& os, Task& t) {
  const uint64_t begin = t.args[0], before = Space::up(t.args[1]), after = Space::up(t.args[2]);
  const uint64_t flags = t.args[3];
  Space& space = os.memory.space;
  if ((flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED)) || !is_sound(begin, before) || after == 0)
    co_return -EINVAL;
  if ((flags & MREMAP_FIXED) && !moves_apart(t.args, before, after)) co_return -EINVAL;
  if (after > Space::kEnd) co_return -ENOMEM;
  co_await os.locks.lock(t, kernel_lines::kSpace);
  uint64_t to = begin;
  int64_t failed = space.is_mapped(begin, begin + before) ? 0 : -EFAULT;
  if (failed == 0) failed = find_place(os, t.args, before, after, to);
  if (failed == 0) co_await resize(os, t, {begin, begin + before}, {to, to + after});
  co_await os.locks.unlock(t, kernel_lines::kSpace);
  co_return failed ? failed : static_cast<int64_t>(to);
}

// Does nothing: there is no disk, and no page is swapped.
Work msync(Linux&, Task&) { co_return 0; }
Work mlock(Linux&, Task&) { co_return 0; }
Work munlock(Linux&, Task&) { co_return 0; }

}  // namespace uncore::calls
