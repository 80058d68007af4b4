// An arena: the memory of one run, in an address range of its own, so that the run can be saved as
// an image of this memory.
//
// Interface: while an Arena::Scope exists, its thread allocates in the arena that holds the object
// given to it, if one does. content() returns the packed image. for_restore() and put() restore it,
// even in another process, at the same address, so that pointers into the arena stay valid. put()
// relocates pointers to this module's code and tables, which may be loaded at another address. An
// image is complete by construction: no class lists its fields for saving, so none can be
// forgotten.
//
// Invariant: nothing in an arena points to memory allocated outside of it. Only the build that
// saved an image can restore it, so a caller that stores images must record the build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace uncore {

class Arena {
 public:
  // The place of a saved image, which restoring it needs: the number of the arena, which decides
  // its address, and the address of this module when the image was saved.
  struct Place {
    uint32_t number = 0;
    uint64_t module = 0;
  };

  static const std::size_t kMinContentBytes, kMaxContentBytes;  // limits on the size of an image

  // Makes an arena. Returns null if no address range is free, or if AddressSanitizer is compiled
  // in, which manages memory itself.
  static std::optional<Arena> make();
  // Makes the empty arena into which an image can be restored. Returns null if its address range is
  // in use in this process.
  static std::optional<Arena> for_restore(Place saved);
  // Restores the next piece of an image, of any size. Returns false if the image exceeds the arena.
  bool put(std::span<const uint64_t> packed);
  Arena(Arena&& other) noexcept;
  ~Arena();

  // Makes the calling thread allocate in the arena that holds `object`, or outside of any arena if
  // none does, until the scope ends. Scopes may be nested.
  class Scope {
   public:
    explicit Scope(const void* object);
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    void* const previous_;
  };

  // Replacements of calloc and free; zeroed() allocates in the arena that a Scope has selected.
  static void* zeroed(std::size_t count, std::size_t size);
  static void release(void* block);

  Place place() const;
  // Returns one part of the image, packed, or an empty vector for a part past the end. Parts are
  // numbered from 0.
  std::vector<uint64_t> content(std::size_t part) const;
  void*& root();  // the object from which the owner finds all others in a restored arena
  // Lets the arena use huge pages of the host from now on. An image is restored before that,
  // because most of it is not touched again, and the host's kernel would first have to clear each
  // huge page.
  void grow_in_large_pages();

 private:
  explicit Arena(uint32_t number, uint64_t saved_module = 0)
      : number_(number), saved_module_(saved_module) {}

  uint32_t number_;
  uint64_t saved_module_;      // address of the module when the image was saved
  std::size_t group_end_ = 0;  // end of the group of words that put() is restoring
  uint64_t remaining_ = 0;     // mask of that group's nonzero words that are still missing
  bool owns_mapping_ = true;   // false after a move
};

}  // namespace uncore
