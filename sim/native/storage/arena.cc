#include "storage/arena.hh"

#include <dlfcn.h>
#include <sys/mman.h>

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

// Far from where Linux puts programs, libraries and heaps.
constexpr uint64_t kFirst = 0x1000'0000'0000;
constexpr uint64_t kRoom = uint64_t{1} << 36;
constexpr uint32_t kArenas = 64;
constexpr std::size_t kAlign = 64;
constexpr std::size_t kSizes = 40;  // powers of two

// Stands at the beginning of an arena; blocks follow. A block's size is written before it.
struct Head {
  uint64_t end = 0;  // of what is used
  void* root = nullptr;
  std::array<void*, kSizes> free{};  // blocks of each size, each of which names the next
};

std::atomic<uint64_t> taken = 0;  // arenas of this process, a bit each
thread_local Head* current = nullptr;

Head* head(uint32_t number) { return reinterpret_cast<Head*>(kFirst + number * kRoom); }

bool inside(const void* p) {
  return reinterpret_cast<uint64_t>(p) - kFirst < uint64_t{kArenas} * kRoom;
}

// The arena that an object is in.
Head* of(const void* p) {
  return head(static_cast<uint32_t>((reinterpret_cast<uint64_t>(p) - kFirst) / kRoom));
}

struct Module {
  uint64_t begin = 0, size = 0;
};

// Where this library is: its code, and the tables and constants behind it.
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
  void* const got = mmap(at, kRoom, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (got == at) return true;
  if (got != MAP_FAILED) munmap(got, kRoom);
  taken.fetch_and(~bit);
  return false;
}

void* allocate(Head& h, std::size_t size) {
  const auto power = static_cast<std::size_t>(std::bit_width(size + kAlign - 1));
  if (void* const block = h.free[power]) {
    std::memcpy(&h.free[power], block, sizeof(void*));
    return block;
  }
  const uint64_t begin = reinterpret_cast<uint64_t>(&h);
  auto* const block = reinterpret_cast<std::byte*>(begin + h.end + kAlign);
  if (h.end + (uint64_t{1} << power) > kRoom) throw std::bad_alloc();
  std::memcpy(block - sizeof power, &power, sizeof power);
  h.end += uint64_t{1} << power;
  return block;
}

void release(void* block) {
  std::size_t power;
  std::memcpy(&power, static_cast<std::byte*>(block) - sizeof power, sizeof power);
  Head& h = *of(block);
  std::memcpy(block, &h.free[power], sizeof(void*));
  h.free[power] = block;
}

}  // namespace

const std::size_t Arena::kLeast = sizeof(Head), Arena::kMost = kRoom;

std::optional<Arena> Arena::make() {
#ifndef __SANITIZE_ADDRESS__
  for (uint32_t number = 0; number < kArenas; ++number)
    if (map(number)) {
      new (head(number)) Head{.end = (sizeof(Head) + kAlign - 1) / kAlign * kAlign};
      return Arena(number);
    }
#endif
  return std::nullopt;
}

std::optional<Arena> Arena::again(Place saved, std::span<const std::byte> content) {
  const bool fits = content.size() >= kLeast && content.size() <= kMost;
  if (saved.number >= kArenas || !fits || !map(saved.number)) return std::nullopt;
  auto* const words = reinterpret_cast<uint64_t*>(head(saved.number));
  std::memcpy(words, content.data(), content.size());
  const Module here = module();
  for (std::size_t i = 0; i < content.size() / sizeof *words; ++i)
    if (words[i] - saved.module < here.size) words[i] += here.begin - saved.module;
  return Arena(saved.number);
}

Arena::Arena(Arena&& other) noexcept
    : number_(other.number_), mine_(std::exchange(other.mine_, false)) {}

Arena::~Arena() {
  if (!mine_) return;
  munmap(head(number_), kRoom);
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
std::span<const std::byte> Arena::content() const {
  return {reinterpret_cast<const std::byte*>(head(number_)), head(number_)->end};
}
void*& Arena::root() { return head(number_)->root; }

}  // namespace uncore

#ifndef __SANITIZE_ADDRESS__
// Strings are compiled into the C++ library, and would be allocated there.
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
