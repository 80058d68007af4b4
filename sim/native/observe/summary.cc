#include "observe/summary.hh"

#include <algorithm>

namespace uncore {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};

unsigned first_part(const Use& use) {
  const uint64_t touched = use.read | use.written;
  return touched ? static_cast<unsigned>(__builtin_ctzll(touched)) : 0;
}

void add(Sum& sum, const Use& use, const UseCost& cost) {
  sum.firsts |= uint64_t{1} << first_part(use);
  sum.reads += use.reads;
  sum.writes += use.writes;
  if (!use.cost) return;
  sum.cost.misses += cost.misses;
  sum.cost.needless += cost.needless;
  sum.cost.failed_scs += cost.failed_scs;
  sum.cost.waited += cost.waited;
  sum.cost.needless_wait += cost.needless_wait;
  sum.cost.critical += cost.critical;
}

// Finds the sum to which a row is to be added.
class Sums {
 public:
  Sums(const Stretches& by, std::size_t lines) : stretches_(by), lines_(lines) {}

  std::vector<Sum> sums;

  std::size_t find_or_add(const Use& use) {
    const ObservedLine& line = *use.held->line;
    Line& own_line = lines_[line.index];
    const uint64_t begin = line.number << kUnitShift;
    if (!own_line.known) {
      own_line = {true, stretch(begin), stretch(begin + 63 * stretches_.part), kNone};
      own_line.is_whole =
          own_line.low == own_line.high && !stretches_.reported_singly[own_line.low];
    }
    if (own_line.is_whole && own_line.sum != kNone) return own_line.sum;
    const unsigned first = first_part(use);
    const std::size_t stretch_index =
        own_line.is_whole ? own_line.low : stretch(begin + first * stretches_.part);
    const LinePart part{stretch_index, stretches_.reported_singly[stretch_index] ? first : 0};
    for (uint32_t n = own_line.sum; n != kNone; n = parts_[n].next)
      if (parts_[n].stretch == part.stretch && parts_[n].first == part.first) return n;
    sums.push_back({.line = line.number});
    parts_.push_back({part.stretch, part.first, own_line.sum});
    return own_line.sum = static_cast<uint32_t>(sums.size() - 1);
  }

 private:
  struct Line {
    bool known = false;
    std::size_t low = 0, high = 0;  // the stretches of the line's first and last part
    uint32_t sum = kNone;           // index of the line's latest sum
    bool is_whole = false;          // one sum covers the whole line
  };
  // The part of a line to which a sum belongs: a stretch, or one part if parts are reported singly.
  struct LinePart {
    std::size_t stretch;
    unsigned first;
    uint32_t next = kNone;  // next entry in the list of this line's sums, or kNone
  };

  std::size_t stretch(uint64_t address) const {
    const auto edge = std::ranges::upper_bound(stretches_.edges, address);
    return static_cast<std::size_t>(edge - stretches_.edges.begin());
  }

  const Stretches& stretches_;
  std::vector<Line> lines_;  // index: ObservedLine::index
  std::vector<LinePart> parts_;
};

}  // namespace

std::vector<UseRow> rows_of(const Attribution& a,
                            const std::optional<std::vector<uint64_t>>& lines) {
  std::vector<bool> wanted(a.copies.lines(), !lines);
  if (lines)
    for (const uint64_t number : *lines)
      if (const ObservedLine* line = a.copies.find(number)) wanted[line->index] = true;
  std::vector<UseRow> rows;
  a.uses.rows().each([&](const Use& use) {
    if (wanted[use.held->line->index]) rows.push_back({&use, &a.uses.cost(use), a.uses.kind(use)});
  });
  return rows;
}

Summary summary(const Attribution& a, const Stretches& by) {
  Summary found;
  const Stretches undivided{.edges = {}, .reported_singly = {false}};
  Sums sums(by, a.copies.lines()), others(undivided, a.copies.lines());
  a.uses.rows().each([&](const Use& use) {
    const UseCost& cost = a.uses.cost(use);
    if (a.uses.kind(use) > Attribution::kOutside) {
      const std::size_t sum = sums.find_or_add(use);
      add(sums.sums[sum], use, cost);
      if (cost.waited || cost.critical)
        found.waiting.push_back({sum, use.pc, use.callers, cost.waited, cost.critical});
      return;
    }
    UseCost not_critical = cost;
    not_critical.critical = 0;
    add(others.sums[others.find_or_add(use)], use, not_critical);
    if (!cost.critical) return;
    const std::size_t sum = sums.find_or_add(use);
    sums.sums[sum].firsts |= uint64_t{1} << first_part(use);
    sums.sums[sum].cost.critical += cost.critical;
    found.waiting.push_back({sum, use.pc, use.callers, 0, cost.critical});
  });
  found.sums = std::move(sums.sums);
  found.others = std::move(others.sums);
  return found;
}

}  // namespace uncore
