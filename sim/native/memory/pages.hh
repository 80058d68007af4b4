// The bytes that memory itself holds, in pages that are allocated when they are first touched.
//
// These bytes may be stale: memory's copy of a line that a cache owns is updated by the writeback.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "storage/bytes.hh"

namespace uncore {

class Pages {
 public:
  // Returns the address of the line's first byte; no line crosses a page.
  uint8_t* line(uint64_t number) {
    std::unique_ptr<Page>& page = pages_[number >> kUnitsShift];
    if (!page) page = std::make_unique<Page>();
    return &(*page)[(number & ((1u << kUnitsShift) - 1)) << kUnitShift];
  }

  uint64_t bytes() const { return pages_.size() * sizeof(Page); }

 private:
  static constexpr unsigned kUnitsShift = 6;  // 64 times 64 bytes: a 4 KiB page
  using Page = std::array<uint8_t, kUnitBytes << kUnitsShift>;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace uncore
