// Detects that a guest spins: its execution repeats itself exactly.
//
// A hart *arrives* at the target of every taken backward branch or jump. If it arrives with the
// same pc, registers and predictor as before, and had no *effect* in between, it will do so again,
// as long as the memory that it reads does not change. Effects are: stores, amo, sc, every CSR
// access (time reads included), mmio, markers, fence.i, wfi, traps, an access answered `later`, and
// an lr that the port's try_reserve() did not perform.
//
// The search is Brent's: a snapshot is taken at arrival 8, 16, 32, ... since the last effect, and
// later arrivals are compared with the latest snapshot. So a loop of any shape is found (delay
// loops and calls inside the waiting loop included), and a loop that computes pays almost nothing.
// Two iterations of equal cost are required, because the first may still have warmed a cache; one
// is enough if the port has observed that it did not. An iteration must lie within one run(), or
// within runs between which no memory changed: an iteration that read some memory before a change
// and some after it proves nothing.
//
// When a hart returns to the pc at which it last spun, a port that watches accesses (Watch) is
// notified at once, and the iteration that begins there is the first that counts.
//
// Invariant: there is no snapshot if there were fewer than kFirst arrivals since the last effect.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "hart/instruction.hh"
#include "hart/predictor.hh"

namespace uncore {

class SpinDetector {
 public:
  // The counters by which an iteration is measured.
  struct Meter {
    uint64_t clock, instructions, branches, mispredicts, pauses;
    bool operator==(const Meter&) const = default;
    Meter operator-(const Meter& o) const {
      return {clock - o.clock, instructions - o.instructions, branches - o.branches,
              mispredicts - o.mispredicts, pauses - o.pauses};
    }
  };

  // The port's knowledge of the accesses of the present iteration.
  enum class Watch : uint8_t {
    none,      // the port does not watch
    possible,  // the port can watch, but does not know whether this iteration is steady
    steady,    // each access of this iteration will cost the same in the next
  };

  void note_effect() { arrivals_since_effect_ = 0; }

  // Records that memory may have changed, so that the present iteration is not compared.
  void disturb() { undisturbed_ = false; }

  // Does the work of arrive() if nothing need be compared. Returns false without any effect if
  // arrive() must be called.
  [[gnu::always_inline]] bool try_pass(uint64_t pc) {
    const bool looks = arrivals_since_effect_ + 1 >= kFirst || pc == spins_at_;
    arrivals_since_effect_ += !looks;
    return !looks;
  }

  // Called when the hart has arrived at pc `by` a branch or jump. Returns true if the hart spins in
  // a steady loop, one iteration of which is period(). If the port can watch, also returns true for
  // a loop that is probably steady, so that the port watches the next iteration.
  bool arrive(uint64_t pc, const uint64_t* x, const Predictor& predictor, const Instruction& by,
              const Meter& now, Watch watch) {
    if (arrivals_since_effect_ >= kFirst) {
      // The registers a loop branch compares are those most likely to differ.
      const bool maybe = pc == pc_ && x[by.rs1] == x_[by.rs1] && x[by.rs2] == x_[by.rs2];
      if (maybe && matches_snapshot(x, predictor)) return measure(now, watch);
    } else if (pc == spins_at_) {
      arrivals_since_effect_ = kFirst;
      look(pc, x, predictor, now);
      return watch == Watch::possible;
    }
    if (++arrivals_since_effect_ >= kFirst &&
        (arrivals_since_effect_ & (arrivals_since_effect_ - 1)) == 0)
      look(pc, x, predictor, now);
    return false;
  }

  const Meter& period() const { return period_; }
  // Returns true if there is a snapshot with which arrivals are compared.
  bool has_snapshot() const { return arrivals_since_effect_ >= kFirst; }

 private:
  static constexpr uint64_t kFirst = 8;

  // Not inlined, because few arrivals get here.
  [[gnu::noinline]] bool matches_snapshot(const uint64_t* x, const Predictor& predictor) const {
    return equal<kSink>(x, x_) &&
           equal<std::tuple_size_v<Predictor::Table>>(predictor.table.data(), table_.data());
  }
  // Compares without a call: memcmp in zig's runtime, which wheels are linked with, goes byte by
  // byte.
  template <unsigned count, class T>
  static bool equal(const T* a, const T* b) {
    T difference = 0;
    for (unsigned n = 0; n < count; ++n) difference |= a[n] ^ b[n];
    return difference == 0;
  }

  bool measure(const Meter& now, Watch watch) {
    const Meter iteration = now - mark_;
    const bool steady = undisturbed_ && (watch == Watch::steady || iteration == period_);
    if (steady) spins_at_ = pc_;
    period_ = iteration;
    mark_ = now;
    undisturbed_ = true;
    return steady;
  }

  void look(uint64_t pc, const uint64_t* x, const Predictor& predictor, const Meter& now) {
    pc_ = pc;
    std::memcpy(x_, x, sizeof x_);
    table_ = predictor.table;
    mark_ = now;
    period_ = {};
    undisturbed_ = true;
  }

  uint64_t arrivals_since_effect_ = 0;
  uint64_t spins_at_ = 1;  // pc at which the hart last spun; 1: none, because no pc is odd
  uint64_t pc_ = 0;
  bool undisturbed_ = false;  // true if disturb() was not called in the present iteration
  Meter mark_ = {}, period_ = {};
  uint64_t x_[kSink] = {};
  Predictor::Table table_ = {};
};

}  // namespace uncore
