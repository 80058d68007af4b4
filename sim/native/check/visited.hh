// The set of visited states. It stores their packed words in one block, and numbers the states in
// the order in which they were found.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace uncore::check {

class VisitedStates {
 public:
  using Number = uint32_t;

  VisitedStates() : slots_(1u << 16) {}

  std::size_t size() const { return starts_.size() - 1; }
  const uint64_t* words(Number n) const { return words_.data() + starts_[n]; }

  // Returns the state's number, and whether the state is new.
  std::pair<Number, bool> insert(const std::vector<uint64_t>& state) {
    if (size() * 2 > slots_.size()) grow();
    const uint64_t hash = hash_of(state);
    std::size_t slot = hash & (slots_.size() - 1);
    for (; slots_[slot].number != kFree; slot = (slot + 1) & (slots_.size() - 1))
      if (slots_[slot].tag == tag(hash) && equal(slots_[slot].number, state))
        return {slots_[slot].number, false};
    const auto number = static_cast<Number>(size());
    slots_[slot] = {number, tag(hash)};
    words_.insert(words_.end(), state.begin(), state.end());
    starts_.push_back(words_.size());
    return {number, true};
  }

 private:
  static constexpr Number kFree = ~Number{0};
  struct Slot {
    Number number = kFree;
    uint32_t tag = 0;  // other bits of the hash, which avoid most comparisons of unequal states
  };
  static uint32_t tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

  std::span<const uint64_t> at(Number n) const {
    return {words_.data() + starts_[n], words_.data() + starts_[n + 1]};
  }

  bool equal(Number n, const std::vector<uint64_t>& state) const {
    const auto other = at(n);
    return other.size() == state.size() && std::equal(other.begin(), other.end(), state.begin());
  }

  static uint64_t hash_of(std::span<const uint64_t> words) {
    uint64_t hash = 0x9e3779b97f4a7c15;
    for (const uint64_t w : words) {
      hash = (hash ^ w) * 0xff51afd7ed558ccd;
      hash ^= hash >> 29;
    }
    return hash;
  }

  void grow() {
    slots_.assign(slots_.size() * 2, Slot{});
    for (Number n = 0; n < size(); ++n) {
      const uint64_t hash = hash_of(at(n));
      std::size_t slot = hash & (slots_.size() - 1);
      while (slots_[slot].number != kFree) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = {n, tag(hash)};
    }
  }

  std::vector<uint64_t> words_;
  std::vector<std::size_t> starts_{0};
  std::vector<Slot> slots_;
};

}  // namespace uncore::check
