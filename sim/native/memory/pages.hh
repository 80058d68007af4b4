// What memory itself holds, in pages that are allocated when they are first touched.
//
// It is not an always-right memory: a line owned by a cache is stale here until it is written back.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "storage/bytes.hh"

namespace uncore {

class Pages {
 public:
  Bytes& line(uint64_t number) {
    std::unique_ptr<Page>& page = pages_[number >> kLinesShift];
    if (!page) page = std::make_unique<Page>();
    return (*page)[number & ((1u << kLinesShift) - 1)];
  }

  uint64_t bytes() const { return pages_.size() * sizeof(Page); }

 private:
  static constexpr unsigned kLinesShift = 6;  // 64 lines of 64 bytes: a 4 KiB page
  using Page = std::array<Bytes, 1u << kLinesShift>;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace uncore
