// Which addresses a process has, and which pages of them it has touched.
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
  static constexpr uint64_t kEnd = uint64_t{1} << 38;  // of Sv39's user half
  static constexpr uint64_t kFirst = 0x10'0000'0000;   // where mmap looks for room
  enum Right : unsigned { read = 1, write = 2, execute = 4 };

  struct Area {
    uint64_t end;
    unsigned rights;
    // A file that is mapped shared, and the address that its first byte has or would have; how
    // often the area has been mapped. Null: the memory is no file's.
    std::shared_ptr<Inode> file{};
    uint64_t base = 0;
    uint32_t times = 1;
    // A file of which pages become copies when they are touched, its first byte at `base`, too.
    std::shared_ptr<Inode> source{};
  };

  // Rounds an address up, or down, to the beginning of a page.
  static uint64_t up(uint64_t address) { return (address + kPage - 1) & ~(kPage - 1); }
  static uint64_t down(uint64_t address) { return address & ~(kPage - 1); }

  // Room for `size` bytes, behind the room that was found last; 0: there is none.
  uint64_t find_room(uint64_t size);
  bool is_free(uint64_t begin, uint64_t end) const;
  // Replaces whatever was mapped there.
  void map(uint64_t begin, const Area& area);
  // What a file has been mapped to more than once stays, once less; not so if it is to be replaced.
  void unmap(uint64_t begin, uint64_t end, bool replaced = false);
  // Maps a file's range, of which parts may be mapped already. False: something else is there.
  bool share(uint64_t begin, const Area& area);
  // Where a file's first byte is, if it is mapped anywhere.
  std::optional<uint64_t> base_of(const std::shared_ptr<Inode>& file) const;
  const std::map<uint64_t, Area>& areas() const { return areas_; }
  // False: not all of it is mapped.
  bool protect(uint64_t begin, uint64_t end, unsigned rights);
  bool is_mapped(uint64_t begin, uint64_t end) const;
  std::optional<Area> area_at(uint64_t address) const;

  bool present(uint64_t address) const { return pages_.contains(address / kPage); }
  void touch(uint64_t address) {
    hidden_.erase(address / kPage);
    pages_.insert(address / kPage);
  }
  // The page keeps what it holds, but is not present.
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

  std::map<uint64_t, Area> areas_;               // by the address where they begin
  std::unordered_set<uint64_t> pages_, hidden_;  // page numbers: present, touched but hidden
  uint64_t next_ = kFirst;                       // where find_room() begins
};

}  // namespace uncore
