// The address space of the process: the areas that are mapped, and the pages that were touched.
//
// An address of the program is the address of its line: nothing is translated (K1). A page gets its
// node when it is first touched (K2); memory that is not touched costs nothing.
//
// Interface: find_room(); map(), unmap(), protect(); area_at(); present() pages, touch() a page,
// touched_pages() of a range. The caller that unmaps a page clears its bytes (UserMemory::drop).
//
// Invariant: areas are disjoint, and begin and end at pages; present pages lie in areas.
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
  static constexpr uint64_t kFirst = 0x10'0000'0000;   // mmap looks for room from here
  enum Right : unsigned { read = 1, write = 2, execute = 4 };

  struct Area {
    uint64_t end;
    unsigned rights;
    // `file`: a file that is mapped shared, else null. `base`: the address that the file's first
    // byte has or would have. `times`: how often the area has been mapped.
    std::shared_ptr<Inode> file{};
    uint64_t base = 0;
    uint32_t times = 1;
    bool shared = false;  // with other processes, if there were any: it keeps bytes not needed now
    // A file that is mapped privately, its first byte at `base`, too: a page becomes a copy of the
    // file's when it is touched.
    std::shared_ptr<Inode> source{};
  };

  // Rounds an address up, or down, to the beginning of a page.
  static uint64_t up(uint64_t address) { return (address + kPage - 1) & ~(kPage - 1); }
  static uint64_t down(uint64_t address) { return address & ~(kPage - 1); }

  // Finds room for `size` bytes, after the room that was found last; 0: there is none.
  uint64_t find_room(uint64_t size);
  bool is_free(uint64_t begin, uint64_t end) const;
  // Maps an area, in place of whatever was mapped there.
  void map(uint64_t begin, const Area& area);
  // Unmaps a range. An area of a shared file that was mapped several times stays, mapped once less,
  // unless it is to be replaced.
  void unmap(uint64_t begin, uint64_t end, bool replaced = false);
  // Maps a range of a shared file, parts of which may be mapped already. False: something else is
  // mapped there.
  bool share(uint64_t begin, const Area& area);
  // The address of a file's first byte, if the file is mapped.
  std::optional<uint64_t> base_of(const std::shared_ptr<Inode>& file) const;
  const std::map<uint64_t, Area>& areas() const { return areas_; }
  // Sets the rights of a range that is mapped.
  void protect(uint64_t begin, uint64_t end, unsigned rights);
  bool is_mapped(uint64_t begin, uint64_t end) const { return mapped_until(begin, end) >= end; }
  // Returns the first address of a range that is not mapped; its end if all of it is.
  uint64_t mapped_until(uint64_t begin, uint64_t end) const;
  // True if a range is mapped as if by one call: with one kind and the same rights.
  bool is_one(uint64_t begin, uint64_t end) const;
  std::optional<Area> area_at(uint64_t address) const;

  bool present(uint64_t address) const { return pages_.contains(address / kPage); }
  void touch(uint64_t address) {
    hidden_.erase(address / kPage);
    pages_.insert(address / kPage);
  }
  // Hides a page, which keeps its bytes: it is not present, so the next access traps.
  void hide(uint64_t address) {
    pages_.erase(address / kPage);
    hidden_.insert(address / kPage);
  }
  void forget(uint64_t address) {
    pages_.erase(address / kPage);
    hidden_.erase(address / kPage);
  }
  uint64_t touched() const { return (pages_.size() + hidden_.size()) * kPage; }
  // The addresses of touched pages, in order.
  std::vector<uint64_t> touched_pages(uint64_t begin, uint64_t end) const;

 private:
  void cut(uint64_t at);

  std::map<uint64_t, Area> areas_;               // begin -> area
  std::unordered_set<uint64_t> pages_, hidden_;  // page numbers: present; touched but hidden
  uint64_t next_ = kFirst;                       // find_room() begins here
};

}  // namespace uncore
