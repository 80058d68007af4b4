// The memory of one run, at an address of its own, so that the run can be saved as it stands.
//
// Interface: while an Arena::In lives, whatever its thread allocates is in the arena of the object
// that it names, if that is in one. content() returns what is in an arena, packed. again() and
// put() restore it, in another process, too: at the same address, so that pointers into the arena
// stay valid; those to this module's own code and tables are moved with the module. So what is
// saved is complete by construction: no class lists its fields, and none can be forgotten.
//
// Invariant: nothing in an arena points to what is allocated outside. Only the build that saved a
// content can use it; whoever keeps a content must record which build that was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace uncore {

class Arena {
 public:
  // The place of a saved arena: its number among arenas, and the address of this module then.
  struct Place {
    uint32_t number = 0;
    uint64_t module = 0;
  };

  static const std::size_t kMinContentBytes, kMaxContentBytes;  // least and most bytes of a content

  // Makes an arena. Null if the host has no room for one, or a sanitizer keeps its own memory.
  static std::optional<Arena> make();
  // Makes the empty arena that a saved content goes into; null if its place is taken in this
  // process.
  static std::optional<Arena> again(Place saved);
  // Restores the next piece of the saved content, of any size. Returns false if there is too much.
  bool put(std::span<const uint64_t> packed);
  Arena(Arena&& other) noexcept;
  ~Arena();

  class In {
   public:
    explicit In(const void* object);
    ~In();
    In(const In&) = delete;

   private:
    void* const before_;
  };

  // calloc and free, in the arena of In.
  static void* zeroed(std::size_t count, std::size_t size);
  static void release(void* block);

  Place place() const;
  // Returns a part of the content, packed; nothing behind the last part.
  std::vector<uint64_t> content(std::size_t part) const;
  void*& root();  // object from which the owner reaches all others in a restored arena
  // Lets the arena use large pages from now on. A content is put before that: most of it is not
  // touched again, and the system would have to clear a large page before each part.
  void grow_in_large_pages();

 private:
  explicit Arena(uint32_t number, uint64_t saved = 0) : number_(number), saved_(saved) {}

  uint32_t number_;
  uint64_t saved_;          // address of the module when the content was saved
  std::size_t filled_ = 0;  // number of words that put() has restored, in whole groups
  uint64_t bits_ = 0;       // words of the last group that are still to come, a bit each
  bool mine_ = true;
};

}  // namespace uncore
