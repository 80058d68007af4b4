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
  MAP_PRIVATE = 2,
  MAP_SHARED_VALIDATE = 3,
  MAP_TYPE = 15,
  MAP_FIXED = 0x10,
  MAP_ANONYMOUS = 0x20,
  MAP_FIXED_NOREPLACE = 0x100000,
  MADV_DONTNEED = 4,
  MADV_FREE = 8,
  PROT_NONE = 0,
  MREMAP_MAYMOVE = 1,
  MREMAP_FIXED = 2,
};
constexpr uint64_t kLegacyFlags = 0x7f9f3;  // LEGACY_MAP_MASK: flags that any file accepts
constexpr uint64_t kAllRights = Space::read | Space::write | Space::execute;

// Returns whether the range begins at a page, is not empty, and lies in the user's half.
bool is_valid_range(uint64_t begin, uint64_t size) {
  return begin % Space::kPage == 0 && size > 0 && size <= Space::kEnd &&
         begin <= Space::kEnd - size;
}

// Returns 0 if mmap can place `size` bytes, with MAP_FIXED at the call's address; else the error.
int64_t may_place(const Linux& os, const Task& t, uint64_t size) {
  const uint64_t begin = t.args[0], flags = t.args[3];
  if (size == 0 || size > Space::kEnd) return -ENOMEM;
  if (!(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))) return 0;
  if (begin > Space::kEnd - size) return -ENOMEM;
  if (begin % Space::kPage) return -EINVAL;
  const bool taken = !os.memory.space.is_free(begin, begin + size);
  return (flags & MAP_FIXED_NOREPLACE) && taken ? -EEXIST : 0;
}

// Sets `begin` to the address of a new mapping: the call's hint if that range is free, else another
// free range. With MAP_FIXED, discards the pages that are there.
Work find_range(Linux& os, Task& t, uint64_t& begin, uint64_t size) {
  const uint64_t flags = t.args[3];
  begin = t.args[0];
  if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
    co_await os.memory.drop(t, begin, begin + size);
    co_return 0;
  }
  if (!is_valid_range(begin, size) || begin == 0 || !os.memory.space.is_free(begin, begin + size))
    begin = os.memory.space.find_room(size);
  co_return begin ? 0 : -ENOMEM;
}

// Returns whether the new range of MREMAP_FIXED is valid and does not overlap the old one.
bool moves_apart(const std::array<uint64_t, 6>& args, uint64_t old_size, uint64_t new_size) {
  const uint64_t from = args[0], to = args[4];
  return (args[3] & MREMAP_MAYMOVE) && is_valid_range(to, new_size) &&
         (to + new_size <= from || from + old_size <= to);
}

// Finds the address to which mremap moves the pages, and sets `to`; does not change `to` if the
// pages can stay. Returns 0 or -ENOMEM.
int64_t find_place(Linux& os, const std::array<uint64_t, 6>& args, uint64_t old_size,
                   uint64_t new_size, uint64_t& to) {
  Space& space = os.memory.space;
  const uint64_t begin = args[0];
  if (args[3] & MREMAP_FIXED) {
    to = args[4];
    return space.area_at(begin)->file ? -ENOMEM : 0;
  }
  if (new_size <= old_size) return 0;
  if (is_valid_range(begin, new_size) && space.is_free(begin + old_size, begin + new_size))
    return 0;
  const bool moves = (args[3] & MREMAP_MAYMOVE) && !space.area_at(begin)->file;
  to = moves ? space.find_room(new_size) : 0;
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

// Maps a file with MAP_SHARED. All shared mappings of a file have the same base address (K14): its
// present one, the one that MAP_FIXED demands, or a new one with room for the file to grow.
Work share(Linux& os, Task& t, const InodeRef& file, uint64_t size) {
  constexpr uint64_t kGrowthBytes = uint64_t{64} << 20;
  Space& space = os.memory.space;
  const uint64_t offset = t.args[5], whole = std::max(offset + size, Space::up(file->data.size()));
  const std::optional<uint64_t> base = space.base_of(file);
  uint64_t begin = base ? *base + offset : t.args[0];
  if (t.args[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
    if (base && begin != t.args[0]) co_return -ENOMEM;
    const int64_t error = base ? 0 : co_await find_range(os, t, begin, size);
    if (error < 0) co_return error;
  } else if (!base) {
    begin = space.find_room(whole + kGrowthBytes);
    if (!begin) co_return -ENOMEM;
    begin += offset;
  }
  const unsigned rights = t.args[2] & kAllRights;
  const Space::Area area{
      .end = begin + size, .rights = rights, .file = file, .base = begin - offset, .shared = true};
  if (!base) space.map(begin, area);
  if (base && !space.share(begin, area)) co_return -ENOMEM;
  co_return static_cast<int64_t>(begin);
}

// Returns 0 if mmap can map the file, or anonymous memory if `open` is null; else the error.
int64_t may_map(const Task& t, const OpenFileRef& open) {
  const uint64_t kind = t.args[3] & MAP_TYPE;
  const bool is_socket = open && (open->stat().mode & S_IFMT) == S_IFSOCK;
  const bool has_size = open && (open->is_regular() || is_socket);
  if (has_size && t.args[5] > FileData::kMaxFileBytes) return -EOVERFLOW;
  const bool shared = kind == MAP_SHARED || (open && kind == MAP_SHARED_VALIDATE);
  if (!shared && kind != MAP_PRIVATE) return -EINVAL;
  if (!open) return 0;
  if (kind == MAP_SHARED_VALIDATE && (t.args[3] & ~kLegacyFlags)) return -EOPNOTSUPP;
  if (shared && !open->writes() && (t.args[2] & Space::write)) return -EACCES;
  if (!open->reads()) return -EACCES;
  const uint32_t seals = open->is_regular() ? open->inode()->seals : 0;
  const bool is_sealed = seals & (kSealWriting | kSealNewWriting);
  if (is_sealed && shared && (t.args[2] & Space::write)) return -EPERM;
  const bool is_zero = open->inode() && open->inode()->device == kZero;
  return open->is_regular() || is_zero ? 0 : -ENODEV;
}

}  // namespace

Work mmap(Linux& os, Task& t) {
  const uint64_t size = Space::up(t.args[1]);
  OpenFileRef open;
  InodeRef file;
  if (t.args[5] % Space::kPage) co_return -EINVAL;
  if (!(t.args[3] & MAP_ANONYMOUS)) {
    open = os.files.at(t.args[4]);
    if (!open) co_return -EBADF;
    if (open->is_regular()) file = open->inode();
  }
  if (t.args[1] == 0) co_return -EINVAL;
  int64_t error = may_place(os, t, size);
  if (error == 0) error = may_map(t, open);
  if (error < 0) co_return error;
  const bool is_shared = t.args[3] & MAP_SHARED;
  // A file whose bytes cannot change is mapped as if privately: a read-only one, or one that is
  // open for reading and was never changed.
  const bool maps_shared =
      file && is_shared && (open->writes() || file->data.is_changed()) && !file->sealed;
  co_await os.locks.lock(t, kernel_lines::kSpace);
  uint64_t begin = 0;
  if (maps_shared) {
    error = co_await share(os, t, file, size);
    begin = static_cast<uint64_t>(error);
  } else {
    error = co_await find_range(os, t, begin, size);
    Space::Area area{.end = begin + size, .rights = static_cast<unsigned>(t.args[2] & kAllRights)};
    area.private_file = file, area.base = begin - t.args[5], area.shared = is_shared && !file;
    if (error == 0) os.memory.space.map(begin, area);
  }
  co_await os.locks.unlock(t, kernel_lines::kSpace);
  co_return error < 0 ? error : static_cast<int64_t>(begin);
}

Work munmap(Linux& os, Task& t) {
  const uint64_t begin = t.args[0], size = Space::up(t.args[1]);
  if (!is_valid_range(begin, size)) co_return -EINVAL;
  co_await os.locks.lock(t, kernel_lines::kSpace);
  co_await os.memory.drop(t, begin, begin + size);
  os.memory.space.unmap(begin, begin + size);
  co_await os.locks.unlock(t, kernel_lines::kSpace);
  co_return 0;
}

// Changes the protection up to the first address that is not mapped. If that lies in the range,
// returns -ENOMEM, as Linux does. Pages with PROT_NONE are hidden, so that their next access traps
// and is checked.
Work mprotect(Linux& os, Task& t) {
  constexpr uint64_t kKnownFlags = kAllRights | 8;  // PROT_SEM
  const uint64_t begin = t.args[0], size = Space::up(t.args[1]), end = begin + size;
  if (begin % Space::kPage != 0) co_return -EINVAL;
  if (t.args[1] == 0) co_return 0;
  if (end <= begin) co_return -ENOMEM;
  if (t.args[2] & ~kKnownFlags) co_return -EINVAL;
  if (begin >= Space::kEnd) co_return -ENOMEM;
  co_await os.locks.lock(t, kernel_lines::kSpace);
  const uint64_t last = os.memory.space.mapped_until(begin, std::min(end, Space::kEnd));
  if (last > begin) os.memory.space.protect(begin, last, t.args[2] & kAllRights);
  if (last > begin && t.args[2] == PROT_NONE) os.memory.hide(begin, last);
  co_await os.locks.unlock(t, kernel_lines::kSpace);
  co_return last == end ? 0 : -ENOMEM;
}

Work brk(Linux& os, Task& t) {
  UserMemory& memory = os.memory;
  const uint64_t next = t.args[0];
  const uint64_t old_end = Space::up(memory.program_break), new_end = Space::up(next);
  if (next < os.context.process().heap ||
      (new_end > old_end && !memory.space.is_free(old_end, new_end)))
    co_return static_cast<int64_t>(memory.program_break);
  co_await os.locks.lock(t, kernel_lines::kSpace);
  if (new_end < old_end) {
    co_await memory.drop(t, new_end, old_end);
    memory.space.unmap(new_end, old_end);
  } else if (new_end > old_end) {
    memory.space.map(old_end, {new_end, Space::read | Space::write});
  }
  memory.program_break = next;
  co_await os.locks.unlock(t, kernel_lines::kSpace);
  co_return static_cast<int64_t>(next);
}

namespace {

constexpr bool is_advice(uint32_t advice) {
  constexpr uint32_t kLastOld = 4, kFirstNew = 8, kLastNew = 25;  // MADV_DONTNEED, FREE, COLLAPSE
  return advice <= kLastOld || (advice >= kFirstNew && advice <= kLastNew);
}

// Calls part(begin, end, area) for each area in a range. Returns -ENOMEM if not all is mapped.
template <class Part>
Work for_areas(const Space& space, uint64_t begin, uint64_t end, Part part) {
  bool all_mapped = true;
  for (uint64_t address = begin; address < end;) {
    const auto area = space.area_at(address);
    if (!area) {
      all_mapped = false;
      address += Space::kPage;
      continue;
    }
    const uint64_t part_end = std::min(area->end, end);
    const int64_t error = co_await part(address, part_end, *area);
    if (error < 0) co_return error;
    address = part_end;
  }
  co_return all_mapped ? 0 : -ENOMEM;
}

}  // namespace

// Discards the pages of a range for MADV_DONTNEED and MADV_FREE. Other advice has no effect that a
// program could see.
Work madvise(Linux& os, Task& t) {
  const auto advice = static_cast<uint32_t>(t.args[2]);
  const uint64_t begin = t.args[0], size = Space::up(t.args[1]);
  if (!is_advice(advice) || begin % Space::kPage) co_return -EINVAL;
  if (size == 0) co_return t.args[1] ? -EINVAL : 0;
  if (begin + size < begin) co_return -EINVAL;
  if (!is_valid_range(begin, size)) co_return -ENOMEM;
  const auto part = [&](uint64_t from, uint64_t to, const Space::Area& area) -> Work {
    if (advice == MADV_FREE && (area.shared || area.file || area.private_file)) co_return -EINVAL;
    const bool drops = advice == MADV_DONTNEED || advice == MADV_FREE;
    if (drops && !(area.shared && !area.file)) co_await os.memory.drop(t, from, to);
    co_return 0;
  };
  co_return co_await for_areas(os.memory.space, begin, begin + size, part);
}

namespace {
// Moves all areas of a range. In the new range, the addresses of gaps keep their mappings, as in
// Linux since 6.17.
Work move_areas(Linux& os, Task& t, uint64_t begin, uint64_t end, uint64_t to) {
  for (uint64_t address = begin; address < end;) {
    const auto area = os.memory.space.area_at(address);
    if (!area) {
      address += Space::kPage;
      continue;
    }
    if (area->file) co_return -ENOMEM;
    const uint64_t part_end = std::min(area->end, end), target = to + (address - begin);
    co_await resize(os, t, {address, part_end}, {target, target + (part_end - address)});
    address = part_end;
  }
  co_return 0;
}
}  // namespace

// Grows or shrinks a mapping, in place if possible; else moves its pages with their bytes (K14).
Work mremap(Linux& os, Task& t) {
  const uint64_t begin = t.args[0], before = Space::up(t.args[1]), after = Space::up(t.args[2]);
  const uint64_t flags = t.args[3];
  Space& space = os.memory.space;
  if ((flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED)) || begin % Space::kPage || after == 0)
    co_return -EINVAL;
  if (after > Space::kEnd) co_return -EINVAL;
  if ((flags & MREMAP_FIXED) && !moves_apart(t.args, before, after)) co_return -EINVAL;
  const auto area = space.area_at(begin);
  if (!area) co_return -EFAULT;
  if (before == 0) co_return -EINVAL;  // Linux duplicates a shared mapping; here that fails
  if (!is_valid_range(begin, before)) co_return after > before ? -EFAULT : -EINVAL;
  const bool only_moves = (flags & MREMAP_FIXED) && before == after;
  const bool maps = after > before || (flags & MREMAP_FIXED);
  if (maps && !only_moves && !space.is_uniform(begin, begin + std::min(before, after)))
    co_return -EFAULT;
  co_await os.locks.lock(t, kernel_lines::kSpace);
  uint64_t to = begin;
  if (only_moves) {
    const int64_t moved = co_await move_areas(os, t, begin, begin + before, t.args[4]);
    co_await os.locks.unlock(t, kernel_lines::kSpace);
    co_return moved < 0 ? moved : static_cast<int64_t>(t.args[4]);
  }
  const int64_t error = find_place(os, t.args, before, after, to);
  if (error == 0) co_await resize(os, t, {begin, begin + before}, {to, to + after});
  co_await os.locks.unlock(t, kernel_lines::kSpace);
  co_return error ? error : static_cast<int64_t>(to);
}

// Checks the arguments only, because there is no disk.
Work msync(Linux& os, Task& t) {
  enum : uint32_t { MS_ASYNC_ = 1, MS_INVALIDATE_ = 2, MS_SYNC_ = 4 };
  constexpr uint32_t kSyncAndAsync = MS_ASYNC_ | MS_SYNC_;
  const auto flags = static_cast<uint32_t>(t.args[2]);
  const uint64_t begin = t.args[0], end = begin + Space::up(t.args[1]);
  if ((flags & ~(kSyncAndAsync | MS_INVALIDATE_)) || begin % Space::kPage ||
      (flags & kSyncAndAsync) == kSyncAndAsync)
    co_return -EINVAL;
  if (end < begin) co_return -ENOMEM;
  co_return end == begin || os.memory.space.is_mapped(begin, end) ? 0 : -ENOMEM;
}

namespace {
// Checks the arguments only, because no page is ever swapped out. mlock requires readable pages.
int64_t may_lock(const Linux& os, const Task& t, bool locks) {
  const uint64_t begin = Space::down(t.args[0]);
  const uint64_t end = begin + Space::up(t.args[1] + t.args[0] % Space::kPage);
  if (end < begin) return -EINVAL;
  if (end == begin) return 0;
  if (!os.memory.space.is_mapped(begin, end)) return -ENOMEM;
  const bool readable = os.memory.usable(begin, end - begin, UserMemory::Use::read) == end - begin;
  return locks && !readable ? -ENOMEM : 0;
}
}  // namespace
Work mlock(Linux& os, Task& t) { co_return may_lock(os, t, true); }
Work munlock(Linux& os, Task& t) { co_return may_lock(os, t, false); }
Work mlockall(Linux&, Task& t) {
  constexpr uint32_t kOnFault = 4, kKnownFlags = 1 | 2 | kOnFault;  // MCL_CURRENT, MCL_FUTURE
  const auto flags = static_cast<uint32_t>(t.args[0]);
  co_return !flags || (flags & ~kKnownFlags) || flags == kOnFault ? -EINVAL : 0;
}
Work munlockall(Linux&, Task&) { co_return 0; }

}  // namespace uncore::calls
