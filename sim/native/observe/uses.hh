// The rows of an attribution: one for each line, pc, hart, kind of operation and chain of callers.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <vector>

#include "observe/chunks.hh"
#include "time/time.hh"

namespace uncore {

struct HeldLine;  // a core's record of a line (LineCopies)

// A row, which is one cache line of the host.
struct alignas(64) Use {
  uint64_t reads = 0, writes = 0;
  uint64_t read = 0, written = 0;  // masks of bytes of the line (LineSize::parts)
  HeldLine* held = nullptr;        // the core's record of the line, set by LineCopies::row()
  uint64_t pc = 0;
  uint32_t hart = 0;
  uint32_t callers = 0;  // number in Chains, if the access cost time; 0: not known
  uint32_t kind = 0;     // index of the kind of operation (Uses::kind)
  uint32_t cost = 0;     // index of the costs (Uses::cost); 0: none
};

// The costs of a row's accesses. Rows whose accesses all hit have none.
struct UseCost {
  uint64_t misses = 0, needless = 0, failed_scs = 0;
  Time waited = 0, needless_wait = 0, critical = 0;
  // When the hart last waited here: the number of the operation (0: none), the hart's effects until
  // then, and the time.
  struct {
    uint64_t operation = 0, effects = 0;
    Time at = 0;
  } last_wait = {};
};

class Uses {
 public:
  explicit Uses(std::size_t harts) : cached_rows_(harts) { costs_.add(); }

  std::size_t row(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind, uint32_t callers = 0);
  // Returns the row with this key and without callers, if it was used recently; else null.
  Use* find_cached(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind) {
    const CachedRow& cached = cached_rows_[hart][slot(line, pc, 0)];
    return cached.is(line, pc, kind, 0) ? &rows_[cached.row] : nullptr;
  }
  // Changes the kind of all rows of one kind to another. After that two rows may have the same key.
  void rename(int64_t kind, int64_t to);
  // Gives each row without callers the callers of the row at the same pc that waited longest.
  void name_callers();

  Use& operator[](std::size_t row) { return rows_[row]; }
  const Chunks<Use>& rows() const { return rows_; }
  int64_t kind(const Use& use) const { return kinds_[use.kind]; }
  const UseCost& cost(const Use& use) const { return costs_[use.cost]; }
  UseCost& cost(Use& use) {
    if (!use.cost) use.cost = static_cast<uint32_t>(costs_.size()), costs_.add();
    return costs_[use.cost];
  }

 private:
  struct CachedRow {
    uint64_t line = ~uint64_t{0}, pc = 0;
    int64_t kind = 0;
    uint32_t callers = 0, row = 0;
    bool is(uint64_t l, uint64_t p, int64_t k, uint32_t c) const {
      return line == l && pc == p && kind == k && callers == c;
    }
  };
  using CachedRows = std::array<CachedRow, 2048>;  // cache of recently used rows, by line and pc
  static std::size_t slot(uint64_t line, uint64_t pc, uint32_t callers) {
    return (pc >> 1 ^ line ^ callers * uint64_t{97}) % std::tuple_size_v<CachedRows>;
  }

  // A slot of the hash table: a row's number plus 1 (0: the slot is empty), and the row's hash.
  // Comparing hashes first avoids reading most of the other rows, which may be far away in memory.
  struct Slot {
    uint32_t number = 0, hash = 0;
  };
  Slot& slot_of(const Use& key, uint64_t line, uint32_t hash);
  bool has_key(const Use& row, const Use& key, uint64_t line) const;
  void grow();

  std::vector<CachedRows> cached_rows_;  // index: hart
  Chunks<Use> rows_;
  Chunks<UseCost> costs_;  // costs_[0] is zero, for rows that have no costs
  std::vector<int64_t> kinds_;
  tsl::robin_map<int64_t, uint32_t> kind_numbers_;
  std::vector<Slot> table_ = std::vector<Slot>(1 << 10);  // at least half of the slots are empty
};

}  // namespace uncore
