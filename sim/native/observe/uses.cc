#include "observe/uses.hh"

#include "observe/line_copies.hh"

namespace uncore {
namespace {

// Hashes rows so that related rows share cache lines of the host: rows of neighbouring
// instructions, because these often access one line, such as a line of the stack; and rows of
// neighbouring lines, because a loop over memory accesses them by the same instruction.
uint32_t hash(const Use& u, uint64_t line) {
  const uint64_t place_hash = (line >> 2 << 6 ^ u.pc >> 5) * 0x9E3779B97F4A7C15u;
  const uint64_t hart_hash = uint64_t{u.kind} << 40 ^ uint64_t { u.hart } << 24;
  uint64_t hash = (place_hash ^ hart_hash ^ u.callers) * 0xD6E8FEB86659FD93u;
  hash ^= hash >> 32;
  const uint64_t nearby = (u.pc >> 1 & 15) << 2 | (line & 3);
  return static_cast<uint32_t>(hash << 6 | ((nearby ^ hash >> 26) & 63));
}

}  // namespace

std::size_t Uses::row(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind, uint32_t callers) {
  CachedRow& cached = cached_rows_[hart][slot(line, pc, callers)];
  if (cached.is(line, pc, kind, callers)) return cached.row;
  const auto number = static_cast<uint32_t>(kinds_.size());
  const auto [known, is_new] = kind_numbers_.try_emplace(kind, number);
  if (is_new) kinds_.push_back(kind);
  const Use key{.pc = pc, .hart = hart, .callers = callers, .kind = known->second};
  const uint32_t hashed = hash(key, line);
  Slot& slot = slot_of(key, line, hashed);
  if (!slot.number) {
    rows_.add(key);
    slot = {static_cast<uint32_t>(rows_.size()), hashed};
  }
  cached = {line, pc, kind, callers, slot.number - 1};
  if (2 * rows_.size() > table_.size()) grow();
  return cached.row;
}

// Returns the slot of the row with this key, or the empty slot in which to insert it.
Uses::Slot& Uses::slot_of(const Use& key, uint64_t line, uint32_t hash) {
  for (std::size_t index = hash;; ++index) {
    Slot& slot = table_[index & (table_.size() - 1)];
    if (!slot.number) return slot;
    if (slot.hash == hash && has_key(rows_[slot.number - 1], key, line)) return slot;
  }
}

bool Uses::has_key(const Use& row, const Use& key, uint64_t line) const {
  return row.pc == key.pc && row.hart == key.hart && row.callers == key.callers &&
         row.kind == key.kind && row.held->line->number == line;
}

void Uses::grow() {
  std::vector<Slot> larger(2 * table_.size());
  for (const Slot& slot : table_) {
    if (!slot.number) continue;
    std::size_t index = slot.hash & (larger.size() - 1);
    while (larger[index].number) index = (index + 1) & (larger.size() - 1);
    larger[index] = slot;
  }
  table_ = std::move(larger);
}

void Uses::rename(int64_t kind, int64_t to) {
  for (int64_t& known : kinds_)
    if (known == kind) known = to;
  kind_numbers_.clear();
  cached_rows_.assign(cached_rows_.size(), {});
}

void Uses::name_callers() {
  struct CostliestWait {
    Time waited = 0;
    uint32_t callers = 0;
  };
  tsl::robin_map<uint64_t, CostliestWait> by_pc;
  rows_.each([&](const Use& use) {
    if (!use.callers) return;
    CostliestWait& dearest = by_pc[use.pc];
    if (const Time waited = std::as_const(*this).cost(use).waited; waited >= dearest.waited)
      dearest = {waited, use.callers};
  });
  rows_.each([&](Use& use) {
    if (use.callers) return;
    if (const auto known = by_pc.find(use.pc); known != by_pc.end())
      use.callers = known->second.callers;
  });
}

}  // namespace uncore
