// A set of children, by ordinal, as a bit mask: two words inline, or a vector of words if the
// resolver has more than 128 children.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace uncore {

class ChildSet {
 public:
  explicit ChildSet(int children) {
    if (children > 128) more_.assign(static_cast<std::size_t>(children + 63) / 64, 0);
  }
  bool has(int c) const { return c >= 0 && (word(c) >> (c % 64) & 1); }
  void add(int c) {
    count_ += !has(c);
    word(c) |= bit(c);
  }
  void remove(int c) {
    if (!has(c)) return;
    word(c) &= ~bit(c);
    --count_;
  }
  bool any() const { return count_ > 0; }
  bool any_but(int c) const { return count_ > has(c); }
  int count() const { return count_; }
  void clear() {
    if (count_ == 0) return;
    for (std::size_t w = 0; w < words(); ++w) data()[w] = 0;
    count_ = 0;
  }
  template <class F>
  void each(F f) const {
    for (std::size_t w = 0; w < words(); ++w)
      for (uint64_t bits = data()[w]; bits; bits &= bits - 1)
        f(static_cast<int>(w * 64) + std::countr_zero(bits));
  }

 private:
  static uint64_t bit(int c) { return uint64_t{1} << (c % 64); }
  std::size_t words() const { return more_.empty() ? 2 : more_.size(); }
  const uint64_t* data() const { return more_.empty() ? inline_ : more_.data(); }
  uint64_t* data() { return more_.empty() ? inline_ : more_.data(); }
  uint64_t& word(int c) { return data()[c / 64]; }
  const uint64_t& word(int c) const { return data()[c / 64]; }

  int count_ = 0;
  uint64_t inline_[2] = {0, 0};
  std::vector<uint64_t> more_;
};

}  // namespace uncore
