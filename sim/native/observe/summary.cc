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
  Sums(const Stretches& by, std::size_t lines) : by_(by), lines_(lines) {}

  std::vector<Sum> sums;

  std::size_t of(const Use& use) {
    const ObservedLine& line = *use.held->line;
    Line& its = lines_[line.index];
    const uint64_t begin = line.number << kUnitShift;
    if (!its.known) {
      its = {true, stretch(begin), stretch(begin + 63 * by_.part), kNone};
      its.whole = its.low == its.high && !by_.reported_singly[its.low];
    }
    if (its.whole && its.sum != kNone) return its.sum;
    const unsigned first = first_part(use);
    const std::size_t at = its.whole ? its.low : stretch(begin + first * by_.part);
    const Which which{at, by_.reported_singly[at] ? first : 0};
    for (uint32_t n = its.sum; n != kNone; n = which_[n].next)
      if (which_[n].stretch == which.stretch && which_[n].first == which.first) return n;
    sums.push_back({.line = line.number});
    which_.push_back({which.stretch, which.first, its.sum});
    return its.sum = static_cast<uint32_t>(sums.size() - 1);
  }

 private:
  struct Line {
    bool known = false;
    std::size_t low = 0, high = 0;  // the stretches of the line's first and last part
    uint32_t sum = kNone;           // index of the line's latest sum
    bool whole = false;             // one sum covers the whole line
  };
  // The part of a line to which a sum belongs: a stretch, or one part if parts are reported singly.
  struct Which {
    std::size_t stretch;
    unsigned first;
    uint32_t next = kNone;  // next entry in the list of this line's sums, or kNone
  };

  std::size_t stretch(uint64_t address) const {
    const auto edge = std::ranges::upper_bound(by_.edges, address);
    return static_cast<std::size_t>(edge - by_.edges.begin());
  }

  const Stretches& by_;
  std::vector<Line> lines_;  // by ObservedLine::index
  std::vector<Which> which_;
};

}  // namespace

std::vector<UseRow> rows_of(const Attribution& a,
                            const std::optional<std::vector<uint64_t>>& lines) {
  std::vector<bool> asked(a.copies.lines(), !lines);
  if (lines)
    for (const uint64_t number : *lines)
      if (const ObservedLine* line = a.copies.find(number)) asked[line->index] = true;
  std::vector<UseRow> rows;
  a.uses.rows().each([&](const Use& use) {
    if (asked[use.held->line->index]) rows.push_back({&use, &a.uses.cost(use), a.uses.kind(use)});
  });
  return rows;
}

Summary summary(const Attribution& a, const Stretches& by) {
  Summary found;
  const Stretches whole{.edges = {}, .reported_singly = {false}};
  Sums sums(by, a.copies.lines()), others(whole, a.copies.lines());
  a.uses.rows().each([&](const Use& use) {
    const UseCost& cost = a.uses.cost(use);
    if (a.uses.kind(use) > Attribution::kOutside) {
      const std::size_t sum = sums.of(use);
      add(sums.sums[sum], use, cost);
      if (cost.waited || cost.critical)
        found.waiting.push_back({sum, use.pc, use.callers, cost.waited, cost.critical});
      return;
    }
    UseCost beside = cost;
    beside.critical = 0;
    add(others.sums[others.of(use)], use, beside);
    if (!cost.critical) return;
    const std::size_t sum = sums.of(use);
    sums.sums[sum].firsts |= uint64_t{1} << first_part(use);
    sums.sums[sum].cost.critical += cost.critical;
    found.waiting.push_back({sum, use.pc, use.callers, 0, cost.critical});
  });
  found.sums = std::move(sums.sums);
  found.others = std::move(others.sums);
  return found;
}

}  // namespace uncore
