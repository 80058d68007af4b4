#include "observe/uses.hh"

namespace uncore {

std::size_t Uses::row(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind, uint32_t callers) {
  Recall& recall = recalls_[hart][slot(line, pc)];
  if (recall.is(line, pc, kind, callers)) return recall.row;
  const Key key{line, pc, kind, hart, callers};
  const auto [row, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
  if (is_new)
    rows_.push_back({.line = line, .pc = pc, .hart = hart, .callers = callers, .kind = kind});
  recall = {line, pc, kind, callers, row->second};
  return recall.row;
}

void Uses::rename(int64_t kind, int64_t to) {
  for (Use& use : rows_)
    if (use.kind == kind) use.kind = to;
  numbers_.clear();
  recalls_.assign(recalls_.size(), {});
}

}  // namespace uncore
