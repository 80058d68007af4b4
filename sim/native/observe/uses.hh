// The rows of the attribution: one for each line, pc, hart and kind of operation.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <vector>

#include "time/time.hh"

namespace uncore {

struct Use {
  uint64_t line = 0, pc = 0;
  uint32_t hart = 0;
  int64_t kind = 0;  // of operation, or Attribution::kBetween, kOutside
  uint64_t reads = 0, writes = 0, misses = 0, needless = 0, failed_scs = 0;
  Time waited = 0, needlessly = 0, critical = 0;
  uint64_t read = 0, written = 0;  // bytes of the line, a bit each
};

class Uses {
 public:
  explicit Uses(std::size_t harts) : harts_(harts) {}

  std::size_t row(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind);
  Use& operator[](std::size_t row) { return rows_[row]; }
  const std::vector<Use>& rows() const { return rows_; }

 private:
  struct Recall {
    uint64_t line = ~uint64_t{0}, pc = 0;
    int64_t kind = 0;
    std::size_t row = 0;
  };
  struct Hart {
    std::array<Recall, 64> recalls;                           // the row of a pc's last access
    tsl::robin_map<uint64_t, std::vector<std::size_t>> rows;  // by line and pc, mixed
  };

  std::vector<Hart> harts_;
  std::vector<Use> rows_;
};

}  // namespace uncore
