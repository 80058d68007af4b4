#include "storage/arena.hh"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace uncore {
namespace {

// Address of the first arena, far from where Linux puts programs, libraries and heaps.
constexpr uint64_t kFirst = 0x1000'0000'0000;
constexpr uint64_t kArenaBytes = uint64_t{1} << 36;
constexpr uint32_t kArenas = 64;
constexpr std::size_t kAlign = 64;
// Each block belongs to a size class. Class k < kExactClasses has k units of kAlign bytes. The
// blocks of class kExactClasses + k have 2^k units and occupy whole chunks.
constexpr std::size_t kExactClasses = 1024, kSizeClasses = kExactClasses + 32;
constexpr std::size_t kChunk = kExactClasses * kAlign, kBlocksPerGrowth = 8;

// The head of an arena, which is all zero at first. Chunks follow it. All blocks of a chunk have
// one size class, so that a block needs no header of its own.
struct Head {
  uint64_t end;  // offset of the first byte that is in no chunk yet
  void* root;
  // For each size class: the list of freed blocks, the offset of the first block that has never
  // been used, and the number of such blocks.
  std::array<void*, kSizeClasses> freed_blocks;
  std::array<uint64_t, kSizeClasses> first_unused;
  std::array<uint64_t, kSizeClasses> unused_blocks;
  std::array<uint16_t, kArenaBytes / kChunk>
      size_classes;  // index: chunk; size class of its blocks
};

std::atomic<uint64_t> mapped_arenas = 0;  // bit k: this process has mapped arena k
thread_local Head* current = nullptr;

Head* head(uint32_t number) { return reinterpret_cast<Head*>(kFirst + number * kArenaBytes); }

bool in_arena(const void* p) {
  return reinterpret_cast<uint64_t>(p) - kFirst < uint64_t{kArenas} * kArenaBytes;
}

// Returns the arena that an object is in.
Head* head_of(const void* p) {
  return head(static_cast<uint32_t>((reinterpret_cast<uint64_t>(p) - kFirst) / kArenaBytes));
}

struct Module {
  uint64_t begin = 0, size = 0;
};

// Returns an address range that contains this shared library: its code, tables and constants. The
// library is assumed to be smaller than 64 MiB.
Module module_range() {
  Dl_info about{};
  dladdr(reinterpret_cast<void*>(&head), &about);
  return {reinterpret_cast<uint64_t>(about.dli_fbase), uint64_t{1} << 26};
}

bool map_arena(uint32_t number) {
  const uint64_t bit = uint64_t{1} << number;
  if (mapped_arenas.fetch_or(bit) & bit) return false;
  void* const at = head(number);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const got = mmap(at, kArenaBytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (got == at) return true;
  if (got != MAP_FAILED) munmap(got, kArenaBytes);
  mapped_arenas.fetch_and(~bit);
  return false;
}

std::size_t size_class_of(std::size_t bytes) {
  const std::size_t units = (std::max<std::size_t>(bytes, 1) + kAlign - 1) / kAlign;
  return units < kExactClasses
             ? units
             : kExactClasses + static_cast<std::size_t>(std::bit_width(units - 1));
}
std::size_t block_size(std::size_t size_class) {
  return kAlign *
         (size_class < kExactClasses ? size_class : std::size_t{1} << (size_class - kExactClasses));
}
uint64_t round_to_chunks(uint64_t bytes) { return (bytes + kChunk - 1) / kChunk * kChunk; }

// Appends chunks of never-used blocks of one size class.
void grow(Head& h, std::size_t size_class) {
  const std::size_t size = block_size(size_class);
  const uint64_t room =
      round_to_chunks(size_class < kExactClasses ? kBlocksPerGrowth * size : size);
  if (h.end + room > kArenaBytes) throw std::bad_alloc();
  std::fill_n(&h.size_classes[h.end / kChunk], room / kChunk, static_cast<uint16_t>(size_class));
  h.first_unused[size_class] = h.end;
  h.unused_blocks[size_class] = room / size;
  h.end += room;
}

void* allocate(Head& h, std::size_t bytes) {
  const std::size_t size_class = size_class_of(bytes);
  if (void* const block = h.freed_blocks[size_class]) {
    std::memcpy(&h.freed_blocks[size_class], block, sizeof(void*));
    return block;
  }
  if (h.unused_blocks[size_class] == 0) grow(h, size_class);
  --h.unused_blocks[size_class];
  void* const block = reinterpret_cast<std::byte*>(&h) + h.first_unused[size_class];
  h.first_unused[size_class] += block_size(size_class);
  return block;
}

void release(void* block) {
  Head& h = *head_of(block);
  const std::size_t offset = reinterpret_cast<uint64_t>(block) - reinterpret_cast<uint64_t>(&h);
  const std::size_t size_class = h.size_classes[offset / kChunk];
  std::memcpy(block, &h.freed_blocks[size_class], sizeof(void*));
  h.freed_blocks[size_class] = block;
}

// An arena's content is saved packed, because half of its words are 0. Each group of kGroup words
// becomes a bit mask of its nonzero words, followed by these words.
constexpr std::size_t kGroup = 64;
constexpr std::size_t kPartBytes = std::size_t{1} << 24;  // bytes of memory that one part holds
constexpr std::size_t kWords = kArenaBytes / sizeof(uint64_t);

std::size_t lowest_bit(uint64_t bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }
uint64_t* arena_words(uint32_t number) { return reinterpret_cast<uint64_t*>(head(number)); }

}  // namespace

const std::size_t Arena::kMinContentBytes = sizeof(uint64_t),
                  Arena::kMaxContentBytes = (kWords + kWords / kGroup) * sizeof(uint64_t);

std::optional<Arena> Arena::make() {
#ifndef __SANITIZE_ADDRESS__
  for (uint32_t number = 0; number < kArenas; ++number)
    if (map_arena(number)) {
      Arena arena(number);
      arena.grow_in_large_pages();
      head(number)->end = round_to_chunks(sizeof(Head));
      return arena;
    }
#endif
  return std::nullopt;
}

std::optional<Arena> Arena::for_restore(Place saved) {
  if (saved.number >= kArenas || !map_arena(saved.number)) return std::nullopt;
  return Arena(saved.number, saved.module);
}

Arena::Arena(Arena&& other) noexcept
    : number_(other.number_),
      saved_module_(other.saved_module_),
      group_end_(other.group_end_),
      remaining_(other.remaining_),
      owns_mapping_(std::exchange(other.owns_mapping_, false)) {}

Arena::~Arena() {
  if (!owns_mapping_) return;
  munmap(head(number_), kArenaBytes);
  mapped_arenas.fetch_and(~(uint64_t{1} << number_));
}

Arena::Scope::Scope(const void* object) : previous_(current) {
  current = in_arena(object) ? head_of(object) : nullptr;
}
Arena::Scope::~Scope() { current = static_cast<Head*>(previous_); }

void* Arena::zeroed(std::size_t count, std::size_t size) {
  if (!current) return std::calloc(count, size);
  return std::memset(allocate(*current, count * size), 0, count * size);
}
void Arena::release(void* block) {
  if (in_arena(block)) return uncore::release(block);
  std::free(block);
}

Arena::Place Arena::place() const { return {number_, module_range().begin}; }

std::vector<uint64_t> Arena::content(std::size_t part) const {
  const std::size_t begin = std::min(part * kPartBytes, head(number_)->end);
  const std::size_t size = std::min(kPartBytes, head(number_)->end - begin) / sizeof(uint64_t);
  const uint64_t* const from = arena_words(number_) + begin / sizeof(uint64_t);
  std::vector<uint64_t> packed;
  packed.reserve(size + size / kGroup + 1);
  for (std::size_t index = 0; index < size; index += kGroup) {  // all words past the end are 0
    uint64_t bits = 0;
    for (std::size_t i = 0; i < kGroup; ++i) bits |= uint64_t{from[index + i] != 0} << i;
    packed.push_back(bits);
    for (; bits; bits &= bits - 1) packed.push_back(from[index + lowest_bit(bits)]);
  }
  return packed;
}

bool Arena::put(std::span<const uint64_t> packed) {
  const Module module = module_range();
  uint64_t* const to = arena_words(number_);
  for (const uint64_t word : packed) {
    if (remaining_) {
      const bool moves = word - saved_module_ < module.size;  // the word points into the module
      to[group_end_ - kGroup + lowest_bit(remaining_)] =
          moves ? word + module.begin - saved_module_ : word;
      remaining_ &= remaining_ - 1;
    } else {
      if (group_end_ == kWords) return false;
      remaining_ = word;
      group_end_ += kGroup;
    }
  }
  return true;
}
void*& Arena::root() { return head(number_)->root; }

void Arena::grow_in_large_pages() {
#ifdef MADV_HUGEPAGE
  madvise(head(number_), kArenaBytes, MADV_HUGEPAGE);
#endif
}

}  // namespace uncore

#ifndef __SANITIZE_ADDRESS__
// Instantiates std::string in this module. The instance in the C++ library would allocate by the
// library's own operator new, outside the arena.
template class std::basic_string<char>;

void* operator new(std::size_t size) {
  if (uncore::current) [[unlikely]]
    return uncore::allocate(*uncore::current, size);
  if (void* const block = std::malloc(size ? size : 1)) return block;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t align) {
  if (uncore::current && static_cast<std::size_t>(align) <= uncore::kAlign) [[unlikely]]
    return uncore::allocate(*uncore::current, size);
  const auto unit = static_cast<std::size_t>(align);
  if (void* const block = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return block;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, std::align_val_t a) { return operator new(size, a); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return uncore::current ? uncore::allocate(*uncore::current, size) : std::malloc(size ? size : 1);
}
void operator delete(void* block) noexcept {
  if (uncore::in_arena(block)) [[unlikely]]
    return uncore::release(block);
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
void operator delete(void* block, std::align_val_t) noexcept { operator delete(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  operator delete(block);
}
void operator delete[](void* block) noexcept { operator delete(block); }
void operator delete[](void* block, std::size_t) noexcept { operator delete(block); }
void operator delete[](void* block, std::align_val_t) noexcept { operator delete(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  operator delete(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept { operator delete(block); }
#endif
