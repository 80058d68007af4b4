#include "observe/uses.hh"

#include <algorithm>

namespace uncore {

std::size_t Uses::row(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind) {
  Hart& h = harts_[hart];
  Recall& recall = h.recalls[(pc >> 1) % h.recalls.size()];
  if (recall.line == line && recall.pc == pc && recall.kind == kind) return recall.row;
  std::vector<std::size_t>& rows = h.rows[(line * 0x9E3779B97F4A7C15u) ^ pc];
  const auto same = [&](std::size_t i) {
    return rows_[i].line == line && rows_[i].pc == pc && rows_[i].kind == kind;
  };
  auto row = std::ranges::find_if(rows, same);
  if (row == rows.end()) {
    row = rows.insert(rows.end(), rows_.size());
    rows_.push_back({.line = line, .pc = pc, .hart = hart, .kind = kind});
  }
  recall = {line, pc, kind, *row};
  return *row;
}

}  // namespace uncore
