// The address space of the process: its mapped areas, and the pages that have been touched.
//
// A program's virtual address is also its physical one: nothing is translated (K1). A page gets its
// home node when it is first touched (K2); untouched memory takes no memory of the host.
//
// Interface: find_room(); map(), unmap(), protect(); area_at(); present(), touch() a page,
// touched_pages() of a range. A caller that unmaps a page also clears its bytes (UserMemory::drop).
//
// Invariant: areas are disjoint and consist of whole pages; present pages lie in areas.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

namespace uncore {

struct Inode;

class AddressSpace {
 public:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kEnd = uint64_t{1} << 38;  // end of Sv39's user half
  static constexpr uint64_t kFirst = 0x10'0000'0000;   // mmap searches for room from here on
  enum Right : unsigned { read = 1, write = 2, execute = 4 };

  // A mapped range, like Linux's struct vm_area_struct.
  struct Area {
    uint64_t end;                   // address after the last byte
    unsigned rights;                // bits of Right
    std::shared_ptr<Inode> file{};  // the file of a MAP_SHARED mapping, else null
    // The address of the file's first byte. It lies below the area if the mapping has an offset.
    uint64_t base = 0;
    // Number of times that mmap has mapped these pages of a shared file, minus the calls of munmap.
    uint32_t map_count = 1;
    bool shared = false;  // MAP_SHARED: MADV_DONTNEED must keep the bytes of anonymous memory
    // The file of a MAP_PRIVATE mapping, else null. A page is copied from it at its first touch.
    std::shared_ptr<Inode> private_file{};
  };

  // These round an address up or down to the beginning of a page.
  static uint64_t up(uint64_t address) { return (address + kPage - 1) & ~(kPage - 1); }
  static uint64_t down(uint64_t address) { return address & ~(kPage - 1); }

  // Finds a free range of `size` bytes. Searches first after the range found last. Returns 0 if
  // there is none.
  uint64_t find_room(uint64_t size);
  bool is_free(uint64_t begin, uint64_t end) const;
  // Maps an area, and replaces whatever was mapped there.
  void map(uint64_t begin, const Area& area);
  // Unmaps a range. An area of a shared file that was mapped several times stays until it has been
  // unmapped as often, unless `replaced`: then a new mapping takes its place.
  void unmap(uint64_t begin, uint64_t end, bool replaced = false);
  // Maps a range of a shared file, parts of which may be mapped already. Returns false if something
  // else is mapped there.
  bool share(uint64_t begin, const Area& area);
  // Returns the address of a file's first byte, if the file is mapped as shared.
  std::optional<uint64_t> base_of(const std::shared_ptr<Inode>& file) const;
  const std::map<uint64_t, Area>& areas() const { return areas_; }
  // Sets the rights of a range that is mapped.
  void protect(uint64_t begin, uint64_t end, unsigned rights);
  bool is_mapped(uint64_t begin, uint64_t end) const { return mapped_until(begin, end) >= end; }
  // Returns the address of the range's first byte that is not mapped; `end` if all are mapped.
  uint64_t mapped_until(uint64_t begin, uint64_t end) const;
  // Returns whether the range could be one mapping: with the same rights and file throughout.
  bool is_uniform(uint64_t begin, uint64_t end) const;
  std::optional<Area> area_at(uint64_t address) const;

  bool present(uint64_t address) const { return pages_.contains(address / kPage); }
  void touch(uint64_t address) {
    hidden_.erase(address / kPage);
    pages_.insert(address / kPage);
  }
  // Hides a page, as PROT_NONE does: it keeps its bytes but is no longer present, so that the next
  // access traps.
  void hide(uint64_t address) {
    pages_.erase(address / kPage);
    hidden_.insert(address / kPage);
  }
  void forget(uint64_t address) {
    pages_.erase(address / kPage);
    hidden_.erase(address / kPage);
  }
  uint64_t touched_bytes() const { return (pages_.size() + hidden_.size()) * kPage; }
  // Returns the addresses of the touched pages of a range, in ascending order.
  std::vector<uint64_t> touched_pages(uint64_t begin, uint64_t end) const;

 private:
  void split_at(uint64_t address);

  std::map<uint64_t, Area> areas_;               // begin -> area
  std::unordered_set<uint64_t> pages_, hidden_;  // numbers of pages present, and of hidden ones
  uint64_t next_ = kFirst;                       // find_room() begins here
};

}  // namespace uncore
