// The callers of accesses that cost time, as chains of return addresses, the innermost first. Each
// chain is stored once and identified by a number. Number 0 is the empty chain, for unknown
// callers.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <vector>

namespace uncore {

// The registers that locate a hart's stack frame while it executes the instruction at pc.
struct Frame {
  uint64_t pc = 0, ra = 0, sp = 0, fp = 0;
};

struct Callers {
  static constexpr std::size_t kDepth = 12;
  std::array<uint64_t, kDepth> addresses{};  // return addresses; 0 after the last
  bool operator==(const Callers&) const = default;
};

class Chains {
 public:
  uint32_t number(const Callers& callers) {
    if (callers == chains_[0]) return 0;
    const auto [entry, is_new] = numbers_.try_emplace(callers, chains_.size());
    if (is_new) chains_.push_back(callers);
    return entry->second;
  }
  const std::vector<Callers>& all() const { return chains_; }

 private:
  struct Hash {
    std::size_t operator()(const Callers& callers) const {
      uint64_t hash = 0;
      for (const uint64_t address : callers.addresses)
        hash = (hash ^ address) * 0x9E3779B97F4A7C15u;
      return hash ^ hash >> 32;
    }
  };

  std::vector<Callers> chains_{1};
  tsl::robin_map<Callers, uint32_t, Hash> numbers_;
};

}  // namespace uncore
