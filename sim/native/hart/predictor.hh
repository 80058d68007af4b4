// The branch predictor of a hart: 256 two-bit counters indexed by pc, for conditional branches
// only.
//
// A counter starts weakly taken for a backward branch and weakly not taken for a forward one, so
// that loops are predicted correctly from their first iteration. Two mispredictions in a row
// reverse a counter (Hennessy and Patterson's two-bit scheme), so that the first outcomes of an
// alternating branch do not decide for ever how well it is predicted.
//
// Invariant: the table is the whole state, so predictors with equal tables predict equally.
#pragma once

#include <array>
#include <cstdint>

namespace uncore {

class Predictor {
 public:
  // Returns whether the predictor expects the branch to be taken.
  bool predicts_taken(uint64_t pc, bool backward) const {
    const uint8_t counter = table[pc / 4 % table.size()];
    return counter == kUnused ? backward : counter >= kWeaklyTaken;
  }
  // Learns the outcome of a branch. Returns true if it was mispredicted.
  bool learn(uint64_t pc, bool backward, bool taken) {
    const bool predicted = predicts_taken(pc, backward);
    uint8_t& counter = table[pc / 4 % table.size()];
    if (counter == kUnused) counter = backward ? kWeaklyTaken : kWeaklyNot;
    if (taken)
      counter = counter == kStronglyNot ? kWeaklyNot : kStronglyTaken;
    else
      counter = counter == kStronglyTaken ? kWeaklyTaken : kStronglyNot;
    return predicted != taken;
  }

  using Table = std::array<uint8_t, 256>;
  Table table = {};

 private:
  enum : uint8_t { kUnused, kStronglyNot, kWeaklyNot, kWeaklyTaken, kStronglyTaken };
};

}  // namespace uncore
