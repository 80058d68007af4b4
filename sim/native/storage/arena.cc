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
// Blocks come in kinds, by size. Kind k < kExact has k units of kAlign bytes; a larger block has a
// power of two of such units, and occupies whole chunks.
constexpr std::size_t kExact = 1024, kKinds = kExact + 32;
constexpr std::size_t kChunk = kExact * kAlign, kBlocksPerGrowth = 8;

// The head of an arena, which is all zero at first. Chunks follow it. All blocks of a chunk have
// one kind, so that a block needs no header of its own.
struct Head {
  uint64_t end;  // offset of the first byte that is in no chunk yet
  void* root;
  std::array<void*, kKinds> free;       // per kind: list of freed blocks
  std::array<uint64_t, kKinds> unused;  // per kind: offset of the first never-used block
  std::array<uint64_t, kKinds> left;    // per kind: number of never-used blocks
  std::array<uint16_t, kArenaBytes / kChunk> kinds;  // per chunk: kind of its blocks
};

std::atomic<uint64_t> taken = 0;  // bit k: this process has mapped arena k
thread_local Head* current = nullptr;

Head* head(uint32_t number) { return reinterpret_cast<Head*>(kFirst + number * kArenaBytes); }

bool inside(const void* p) {
  return reinterpret_cast<uint64_t>(p) - kFirst < uint64_t{kArenas} * kArenaBytes;
}

// Returns the arena that an object is in.
Head* of(const void* p) {
  return head(static_cast<uint32_t>((reinterpret_cast<uint64_t>(p) - kFirst) / kArenaBytes));
}

struct Module {
  uint64_t begin = 0, size = 0;
};

// Returns the address range of this shared library: its code, tables and constants.
Module module() {
  Dl_info about{};
  dladdr(reinterpret_cast<void*>(&head), &about);
  return {reinterpret_cast<uint64_t>(about.dli_fbase), uint64_t{1} << 26};
}

bool map(uint32_t number) {
  const uint64_t bit = uint64_t{1} << number;
  if (taken.fetch_or(bit) & bit) return false;
  void* const at = head(number);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const got = mmap(at, kArenaBytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (got == at) return true;
  if (got != MAP_FAILED) munmap(got, kArenaBytes);
  taken.fetch_and(~bit);
  return false;
}

std::size_t kind_of(std::size_t bytes) {
  const std::size_t units = (std::max<std::size_t>(bytes, 1) + kAlign - 1) / kAlign;
  return units < kExact ? units : kExact + static_cast<std::size_t>(std::bit_width(units - 1));
}
std::size_t size_of(std::size_t kind) {
  return kAlign * (kind < kExact ? kind : std::size_t{1} << (kind - kExact));
}
uint64_t rounded(uint64_t bytes) { return (bytes + kChunk - 1) / kChunk * kChunk; }

// Appends chunks of never-used blocks of one kind.
void grow(Head& h, std::size_t kind) {
  const std::size_t size = size_of(kind);
  const uint64_t room = rounded(kind < kExact ? kBlocksPerGrowth * size : size);
  if (h.end + room > kArenaBytes) throw std::bad_alloc();
  std::fill_n(&h.kinds[h.end / kChunk], room / kChunk, static_cast<uint16_t>(kind));
  h.unused[kind] = h.end;
  h.left[kind] = room / size;
  h.end += room;
}

void* allocate(Head& h, std::size_t bytes) {
  const std::size_t kind = kind_of(bytes);
  if (void* const block = h.free[kind]) {
    std::memcpy(&h.free[kind], block, sizeof(void*));
    return block;
  }
  if (h.left[kind] == 0) grow(h, kind);
  --h.left[kind];
  void* const block = reinterpret_cast<std::byte*>(&h) + h.unused[kind];
  h.unused[kind] += size_of(kind);
  return block;
}

void release(void* block) {
  Head& h = *of(block);
  const std::size_t at = reinterpret_cast<uint64_t>(block) - reinterpret_cast<uint64_t>(&h);
  const std::size_t kind = h.kinds[at / kChunk];
  std::memcpy(block, &h.free[kind], sizeof(void*));
  h.free[kind] = block;
}

// An arena's content is saved packed, because half of its words are 0. Each group of kGroup words
// becomes a bit mask of its nonzero words, followed by these words.
constexpr std::size_t kGroup = 64, kPart = std::size_t{1} << 24;
constexpr std::size_t kWords = kArenaBytes / sizeof(uint64_t);

std::size_t lowest(uint64_t bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }
uint64_t* words(uint32_t number) { return reinterpret_cast<uint64_t*>(head(number)); }

}  // namespace

const std::size_t Arena::kMinContentBytes = sizeof(uint64_t),
                  Arena::kMaxContentBytes = (kWords + kWords / kGroup) * sizeof(uint64_t);

std::optional<Arena> Arena::make() {
#ifndef __SANITIZE_ADDRESS__
  for (uint32_t number = 0; number < kArenas; ++number)
    if (map(number)) {
      Arena made(number);
      made.grow_in_large_pages();
      head(number)->end = rounded(sizeof(Head));
      return made;
    }
#endif
  return std::nullopt;
}

std::optional<Arena> Arena::again(Place saved) {
  if (saved.number >= kArenas || !map(saved.number)) return std::nullopt;
  return Arena(saved.number, saved.module);
}

Arena::Arena(Arena&& other) noexcept
    : number_(other.number_),
      saved_(other.saved_),
      filled_(other.filled_),
      bits_(other.bits_),
      mine_(std::exchange(other.mine_, false)) {}

Arena::~Arena() {
  if (!mine_) return;
  munmap(head(number_), kArenaBytes);
  taken.fetch_and(~(uint64_t{1} << number_));
}

Arena::In::In(const void* object) : before_(current) {
  current = inside(object) ? of(object) : nullptr;
}
Arena::In::~In() { current = static_cast<Head*>(before_); }

void* Arena::zeroed(std::size_t count, std::size_t size) {
  if (!current) return std::calloc(count, size);
  return std::memset(allocate(*current, count * size), 0, count * size);
}
void Arena::release(void* block) {
  if (inside(block)) return uncore::release(block);
  std::free(block);
}

Arena::Place Arena::place() const { return {number_, module().begin}; }

std::vector<uint64_t> Arena::content(std::size_t part) const {
  const std::size_t begin = std::min(part * kPart, head(number_)->end);
  const std::size_t size = std::min(kPart, head(number_)->end - begin) / sizeof(uint64_t);
  const uint64_t* const from = words(number_) + begin / sizeof(uint64_t);
  std::vector<uint64_t> packed;
  packed.reserve(size + size / kGroup + 1);
  for (std::size_t at = 0; at < size; at += kGroup) {  // all words behind the end are 0
    uint64_t bits = 0;
    for (std::size_t i = 0; i < kGroup; ++i) bits |= uint64_t{from[at + i] != 0} << i;
    packed.push_back(bits);
    for (; bits; bits &= bits - 1) packed.push_back(from[at + lowest(bits)]);
  }
  return packed;
}

bool Arena::put(std::span<const uint64_t> packed) {
  const Module here = module();
  uint64_t* const to = words(number_);
  for (const uint64_t word : packed) {
    if (bits_) {
      const bool moves = word - saved_ < here.size;
      to[filled_ - kGroup + lowest(bits_)] = moves ? word + here.begin - saved_ : word;
      bits_ &= bits_ - 1;
    } else {
      if (filled_ == kWords) return false;
      bits_ = word;
      filled_ += kGroup;
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
  if (uncore::inside(block)) [[unlikely]]
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
