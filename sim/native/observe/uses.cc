#include "observe/uses.hh"

namespace uncore {
namespace {

// Instructions that follow each other stay together: they often touch one line, such as the
// stack's.
uint64_t hash(const Use& u) {
  constexpr unsigned kTogether = 4;  // as a power of two
  const uint64_t where = (u.line << 6 ^ u.pc >> (kTogether + 1)) * 0x9E3779B97F4A7C15u;
  const uint64_t who = static_cast<uint64_t>(u.kind) << 40 ^ uint64_t { u.hart } << 24;
  const uint64_t hash = (where ^ who ^ u.callers) * 0xD6E8FEB86659FD93u;
  return (hash ^ hash >> 32) << kTogether | (u.pc >> 1 & ((1u << kTogether) - 1));
}

bool same(const Use& a, const Use& b) {
  return a.line == b.line && a.pc == b.pc && a.hart == b.hart && a.callers == b.callers &&
         a.kind == b.kind;
}

}  // namespace

std::size_t Uses::row(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind, uint32_t callers) {
  Recall& recall = recalls_[hart][slot(line, pc, callers)];
  if (recall.is(line, pc, kind, callers)) return recall.row;
  const Use named{.line = line, .pc = pc, .hart = hart, .callers = callers, .kind = kind};
  const uint64_t hashed = hash(named);
  Slot& slot = place(named, hashed);
  if (!slot.number) {
    rows_.push_back(named);
    slot = {static_cast<uint32_t>(rows_.size()), static_cast<uint32_t>(hashed >> 32)};
  }
  recall = {line, pc, kind, callers, slot.number - 1};
  if (2 * (rows_.size() - first_) > table_.size()) grow();
  return recall.row;
}

// Where the row's number is, or will be.
Uses::Slot& Uses::place(const Use& named, uint64_t hash) {
  for (uint64_t at = hash;; ++at) {
    Slot& slot = table_[at & (table_.size() - 1)];
    if (!slot.number) return slot;
    if (slot.hash == hash >> 32 && same(rows_[slot.number - 1], named)) return slot;
  }
}

void Uses::grow() {
  table_.assign(4 * table_.size(), {});
  for (std::size_t row = first_; row < rows_.size(); ++row) {
    const uint64_t hashed = hash(rows_[row]);
    place(rows_[row], hashed) = {static_cast<uint32_t>(row + 1),
                                 static_cast<uint32_t>(hashed >> 32)};
  }
}

void Uses::rename(int64_t kind, int64_t to) {
  for (Use& use : rows_)
    if (use.kind == kind) use.kind = to;
  table_.assign(table_.size(), {});
  first_ = rows_.size();
  recalls_.assign(recalls_.size(), {});
}

}  // namespace uncore
