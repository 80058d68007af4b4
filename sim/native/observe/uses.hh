// The rows of the attribution: one for each line, pc, hart, kind of operation and chain of callers.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <vector>

#include "time/time.hh"

namespace uncore {

struct HeldLine;  // what its core has of a line (LineCopies)

// What a hit counts comes first: it fits one cache line of the host.
struct alignas(64) Use {
  uint64_t reads = 0, writes = 0;
  uint64_t read = 0, written = 0;  // bytes of the line, a bit each
  HeldLine* held = nullptr;        // null before the first access
  uint64_t line = 0, pc = 0;
  uint32_t hart = 0;
  uint32_t callers = 0;  // the number of a chain, where the access cost time (Chains)
  int64_t kind = 0;      // of operation, or Attribution::kBetween, kOutside
  uint64_t misses = 0, needless = 0, failed_scs = 0;
  Time waited = 0, needlessly = 0, critical = 0;
};

class Uses {
 public:
  explicit Uses(std::size_t harts) : recalls_(harts) {}

  std::size_t row(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind, uint32_t callers = 0);
  // The row without callers, if it is one of late; else null.
  Use* recalled(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind) {
    const Recall& recall = recalls_[hart][slot(line, pc)];
    return recall.is(line, pc, kind, 0) ? &rows_[recall.row] : nullptr;
  }
  // All operations of a kind are of another one, from now on; rows of the same may be there twice.
  void rename(int64_t kind, int64_t to);
  Use& operator[](std::size_t row) { return rows_[row]; }
  const std::vector<Use>& rows() const { return rows_; }

 private:
  struct Key {
    uint64_t line = ~uint64_t{0}, pc = 0;
    int64_t kind = 0;
    uint32_t hart = 0, callers = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const uint64_t where = (key.line << 6 ^ key.pc) * 0x9E3779B97F4A7C15u;
      const uint64_t who = static_cast<uint64_t>(key.kind) << 40 ^ uint64_t { key.hart } << 24;
      const uint64_t hash = (where ^ who ^ key.callers) * 0xD6E8FEB86659FD93u;
      return hash ^ hash >> 32;
    }
  };
  struct Recall {
    uint64_t line = ~uint64_t{0}, pc = 0;
    int64_t kind = 0;
    uint32_t callers = 0, row = 0;
    bool is(uint64_t l, uint64_t p, int64_t k, uint32_t c) const {
      return line == l && pc == p && kind == k && callers == c;
    }
  };
  using Recalls = std::array<Recall, 512>;  // rows of late, by line and pc
  static std::size_t slot(uint64_t line, uint64_t pc) {
    return (pc >> 1 ^ line) % std::tuple_size_v<Recalls>;
  }

  std::vector<Recalls> recalls_;  // by hart
  std::vector<Use> rows_;
  tsl::robin_map<Key, uint32_t, Hash> numbers_;
};

}  // namespace uncore
