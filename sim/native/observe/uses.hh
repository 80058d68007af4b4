// The rows of the attribution: one for each line, pc, hart, kind of operation and chain of callers.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <vector>

#include "observe/chunks.hh"
#include "time/time.hh"

namespace uncore {

struct HeldLine;  // a core's record of a line (LineCopies)

// A row, in one cache line of the host.
struct alignas(64) Use {
  uint64_t reads = 0, writes = 0;
  uint64_t read = 0, written = 0;  // bytes of the line, a bit each (LineSize::parts)
  HeldLine* held = nullptr;        // names the line, too (LineCopies::row)
  uint64_t pc = 0;
  uint32_t hart = 0;
  uint32_t callers = 0;  // the number of a chain, where the access cost time (Chains)
  uint32_t kind = 0;     // the number of a kind (Uses::kind)
  uint32_t cost = 0;     // the number of its costs (Uses::cost)
};

// Costs of a row's accesses, for rows that have any.
struct UseCost {
  uint64_t misses = 0, needless = 0, failed_scs = 0;
  Time waited = 0, needlessly = 0, critical = 0;
  uint64_t looked = 0;  // operation for which the hart last waited in this row; 0: none
};

class Uses {
 public:
  explicit Uses(std::size_t harts) : recalls_(harts) { costs_.add(); }

  std::size_t row(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind, uint32_t callers = 0);
  // Returns the row without callers if it was used lately, else null.
  Use* recalled(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind) {
    const Recall& recall = recalls_[hart][slot(line, pc, 0)];
    return recall.is(line, pc, kind, 0) ? &rows_[recall.row] : nullptr;
  }
  // Turns all operations of a kind into operations of another. Two rows may then have one key.
  void rename(int64_t kind, int64_t to);
  // Gives rows without callers those of the row at the same pc that waited longest.
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
  struct Recall {
    uint64_t line = ~uint64_t{0}, pc = 0;
    int64_t kind = 0;
    uint32_t callers = 0, row = 0;
    bool is(uint64_t l, uint64_t p, int64_t k, uint32_t c) const {
      return line == l && pc == p && kind == k && callers == c;
    }
  };
  using Recalls = std::array<Recall, 2048>;  // lately used rows, by line and pc
  static std::size_t slot(uint64_t line, uint64_t pc, uint32_t callers) {
    return (pc >> 1 ^ line ^ callers * uint64_t{97}) % std::tuple_size_v<Recalls>;
  }

  // A slot of the hash table: a row's number plus 1, and its hash; number 0: empty. Comparing
  // hashes first mostly avoids reading other rows, which may be far away.
  struct Slot {
    uint32_t number = 0, hash = 0;
  };
  Slot& place(const Use& named, uint64_t line, uint32_t hash);
  bool same(const Use& row, const Use& named, uint64_t line) const;
  void grow();

  std::vector<Recalls> recalls_;  // by hart
  Chunks<Use> rows_;
  Chunks<UseCost> costs_;  // the first stands for rows that have none
  std::vector<int64_t> kinds_;
  tsl::robin_map<int64_t, uint32_t> kind_numbers_;
  std::vector<Slot> table_ = std::vector<Slot>(1 << 10);  // at least half of the slots are empty
};

}  // namespace uncore
