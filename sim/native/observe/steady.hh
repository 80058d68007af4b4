// The steady state of a run (W2): the operations that were executed while all harts took part,
// without the warm-up.
//
// Interface: steady(pace) returns the number of these operations and the time that they took, or
// zeros if there are fewer than kLeastOperations. It computes with integers only, so the result is
// the same on any host, and the same as in Python (uncore.support.steady).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "observe/pace.hh"

namespace uncore {

struct Steady {
  uint64_t operations = 0;
  Time ps = 0;
};

namespace steady_state {

using Spans = std::vector<Pace::Span>;

constexpr std::size_t kFirstPart = 4, kLastPart = 8;  // drop the first 1/4 and the last 1/8 (W2.1)
constexpr std::size_t kBatch = 5, kMaxCut = 3;  // spans of a batch; drop at most 1/3 of batches
constexpr uint64_t kLeastOperations = 20;

// Returns the number of batches to drop at the beginning so that the standard error of the mean of
// the others is least (MSER-5, W2.2). For n batches with sum s and sum of squares q, the square of
// this error is (n q - s^2) / n^3.
inline std::size_t warm_up(const Spans& spans) {
  using Wide = unsigned __int128;
  const std::size_t count = spans.size() / kBatch;
  if (!count) return 0;
  std::vector<uint64_t> batches(count);
  for (std::size_t n = 0; n < count * kBatch; ++n) batches[n / kBatch] += spans[n].operations;
  Wide sum = 0, squares = 0;
  const auto add = [&](uint64_t batch) { sum += batch, squares += Wide{batch} * batch; };
  for (std::size_t n = count / kMaxCut + 1; n < count; ++n) add(batches[n]);
  std::size_t best = 0;
  Wide least = 0, least_cubed = 0;
  for (std::size_t dropped = count / kMaxCut + 1; dropped-- > 0;) {
    add(batches[dropped]);
    const Wide n = count - dropped, error = n * squares - sum * sum, cubed = n * n * n;
    if (!least_cubed || error * least_cubed <= least * cubed)
      best = dropped, least = error, least_cubed = cubed;
  }
  return best;
}

// Returns the spans in which all harts take part, without the first 1/4 and the last 1/8 (W2.1).
inline Spans spans_together(const Pace& pace) {
  Spans spans;
  pace.each([&](const Pace::Span& span) { spans.push_back(span); });
  if (spans.empty()) return {};
  const auto number = [&](Time span) {
    return span > pace.first() ? static_cast<std::size_t>(span - pace.first()) : std::size_t{0};
  };
  const Time unit = Time{1} << pace.shift();
  const std::size_t end = std::min(number(pace.first_end() >> pace.shift()), spans.size());
  const std::size_t begin = number((pace.entered() + unit - 1) >> pace.shift());
  if (2 * begin > end) return {};
  const std::size_t all = end - begin;
  return {spans.begin() + static_cast<std::ptrdiff_t>(begin + all / kFirstPart),
          spans.begin() + static_cast<std::ptrdiff_t>(end - all / kLastPart)};
}

}  // namespace steady_state

inline Steady steady(const Pace& pace) {
  using namespace steady_state;
  Spans spans = spans_together(pace);
  const auto cut = [&] {
    spans.erase(spans.begin(),
                spans.begin() + static_cast<std::ptrdiff_t>(kBatch * warm_up(spans)));
    std::ranges::reverse(spans);
  };
  cut();  // drops the warm-up
  cut();  // drops the end, where threads become fewer
  std::erase_if(spans, [](const Pace::Span& span) { return span.operations == 0; });
  Steady found;
  for (std::size_t n = 1; n < spans.size(); ++n) found.operations += spans[n].operations;
  if (found.operations < kLeastOperations) return {};
  found.ps = spans.back().last - spans.front().last;
  return found;
}

}  // namespace uncore
