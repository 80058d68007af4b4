// Calls about memory. The kernel's lock of the address space is taken for what changes it.
#include <algorithm>

#include "os/calls.hh"
#include "os/errors.hh"

namespace uncore::calls {
namespace {

using Space = AddressSpace;
constexpr uint64_t kFixed = 0x10, kAnonymous = 0x20, kFixedNoReplace = 0x100000;  // MAP_...
constexpr uint64_t kDontNeed = 4, kFree = 8;                                      // MADV_...
constexpr int64_t kExists = -17;
constexpr uint64_t kAllRights = Space::read | Space::write | Space::execute;

// Whole pages of the user's half.
bool is_sound(uint64_t begin, uint64_t size) {
  return begin % Space::kPage == 0 && size > 0 && size <= Space::kEnd &&
         begin <= Space::kEnd - size;
}

// What the new pages of a file hold; nobody has seen them before.
Work fill(Kernel& k, Task& t, uint64_t begin, uint64_t size) {
  const Files::Open* const file = k.files.at(t.a[4]);
  const std::string_view data = k.files.find(file->path)->data;
  const uint64_t offset = std::min<uint64_t>(t.a[5], data.size());
  const std::string_view part = data.substr(offset, size);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(part.data());
  co_return co_await k.copy_out(t, {bytes, part.size()}, begin);
}

Work place(Kernel& k, Task& t, uint64_t& begin, uint64_t size) {
  const uint64_t flags = t.a[3];
  begin = t.a[0];
  if (flags & (kFixed | kFixedNoReplace)) {
    if (!is_sound(begin, size)) co_return kInvalid;
    if ((flags & kFixedNoReplace) && !k.space.is_free(begin, begin + size)) co_return kExists;
    co_await k.drop_pages(t, begin, begin + size);
    co_return 0;
  }
  if (!is_sound(begin, size) || begin == 0 || !k.space.is_free(begin, begin + size))
    begin = k.space.find_room(size);
  co_return begin ? 0 : kNoMemory;
}

}  // namespace

Work mmap(Kernel& k, Task& t) {
  const uint64_t size = Space::up(t.a[1]);
  const bool of_file = !(t.a[3] & kAnonymous);
  if (size == 0 || size > Space::kEnd) co_return size ? kNoMemory : kInvalid;
  if (of_file) {
    const Files::Open* const file = k.files.at(t.a[4]);
    if (!file || file->kind != Files::Open::Kind::file) co_return kBadDescriptor;
  }
  co_await k.lock(t, Kernel::kSpaceLock);
  uint64_t begin = 0;
  const int64_t failed = co_await place(k, t, begin, size);
  if (failed == 0) k.space.map(begin, begin + size, t.a[2] & kAllRights);
  co_await k.unlock(t, Kernel::kSpaceLock);
  if (failed != 0) co_return failed;
  if (of_file) co_await fill(k, t, begin, size);
  co_return static_cast<int64_t>(begin);
}

Work munmap(Kernel& k, Task& t) {
  const uint64_t begin = t.a[0], size = Space::up(t.a[1]);
  if (!is_sound(begin, size)) co_return kInvalid;
  co_await k.lock(t, Kernel::kSpaceLock);
  co_await k.drop_pages(t, begin, begin + size);
  k.space.unmap(begin, begin + size);
  co_await k.unlock(t, Kernel::kSpaceLock);
  co_return 0;
}

// A page that user mode may not touch asks again.
Work mprotect(Kernel& k, Task& t) {
  const uint64_t begin = t.a[0], end = begin + Space::up(t.a[1]);
  if (begin == end) co_return 0;
  if (!is_sound(begin, end - begin)) co_return kInvalid;
  co_await k.lock(t, Kernel::kSpaceLock);
  const bool allowed = k.space.allow(begin, end, t.a[2] & kAllRights);
  if (allowed && t.a[2] == 0) k.hide_pages(begin, end);
  co_await k.unlock(t, Kernel::kSpaceLock);
  co_return allowed ? 0 : kNoMemory;
}

Work brk(Kernel& k, Task& t) {
  const uint64_t wanted = t.a[0], heap = k.process.heap;
  const uint64_t before = Space::up(k.program_break), after = Space::up(wanted);
  if (wanted < heap || (after > before && !k.space.is_free(before, after)))
    co_return static_cast<int64_t>(k.program_break);
  co_await k.lock(t, Kernel::kSpaceLock);
  if (after < before) {
    co_await k.drop_pages(t, after, before);
    k.space.unmap(after, before);
  } else if (after > before) {
    k.space.map(before, after, Space::read | Space::write);
  }
  k.program_break = wanted;
  co_await k.unlock(t, Kernel::kSpaceLock);
  co_return static_cast<int64_t>(wanted);
}

// What is not needed is given back; other advice changes nothing that a program could tell.
Work madvise(Kernel& k, Task& t) {
  const uint64_t begin = t.a[0], size = Space::up(t.a[1]);
  if (size == 0) co_return 0;
  if (!is_sound(begin, size)) co_return kInvalid;
  if (!k.space.is_mapped(begin, begin + size)) co_return kNoMemory;
  if (t.a[2] != kDontNeed && t.a[2] != kFree) co_return 0;
  co_await k.drop_pages(t, begin, begin + size);
  co_return 0;
}

// Programs copy instead where this is refused.
Work mremap(Kernel&, Task&) { co_return kNoMemory; }

// Nothing is ever written to a disk, nor swapped.
Work msync(Kernel&, Task&) { co_return 0; }
Work mlock(Kernel&, Task&) { co_return 0; }
Work munlock(Kernel&, Task&) { co_return 0; }

}  // namespace uncore::calls
