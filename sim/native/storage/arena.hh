// The memory of one run, at an address of its own, so that the run can be saved as it stands.
//
// Interface: while an Arena::In lives, whatever its thread allocates is in the arena of the object
// that it names, if that is in one. content() is what is in an arena, packed; again() and put()
// bring it back, in another process too: at the same address, so that every pointer in it holds;
// those to this module's own code and tables move with the module. So what is saved is complete by
// construction: no class lists its fields, and none can be forgotten.
//
// Invariant: nothing in an arena points to what is allocated outside. Only the build that saved a
// content can use it; who keeps it must know which one that was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace uncore {

class Arena {
 public:
  // Where one was: its place among arenas, and where this module was then.
  struct Place {
    uint32_t number = 0;
    uint64_t module = 0;
  };

  static const std::size_t kLeast, kMost;  // bytes of a content

  // Null where the host has no room for one: sanitizers keep their own memory.
  static std::optional<Arena> make();
  // Room for one that was saved; null where its place is taken in this process.
  static std::optional<Arena> again(Place saved);
  // What comes next of its content, in whatever pieces. False: there is too much.
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
  // A part of it; behind the last one nothing.
  std::vector<uint64_t> content(std::size_t part) const;
  void*& root();  // what the owner finds again
  // From now on. What is put is not: most of it is not touched again, and the system would have to
  // clear a large page before each part.
  void grow_in_large_pages();

 private:
  explicit Arena(uint32_t number, uint64_t saved = 0) : number_(number), saved_(saved) {}

  uint32_t number_;
  uint64_t saved_;          // where the module was when it was saved
  std::size_t filled_ = 0;  // words, as far as has been put
  uint64_t bits_ = 0;       // of the last of them, those that are still to come
  bool mine_ = true;
};

}  // namespace uncore
