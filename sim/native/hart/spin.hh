// Detects that a guest waits: that its execution repeats itself exactly.
//
// A hart *arrives* at the target of every taken backward branch or jump. If it arrives with the
// same pc, registers and predictor as before, and had no *effect* in between, it will do so for
// ever, as long as the memory it reads stays as it is. Effects are: stores, amo, sc, every CSR
// access (time reads included), mmio, markers, fence.i, wfi, traps, an access answered `later`, and
// an lr that the port's try_reserve() did not do at once.
//
// The search is Brent's: a snapshot is taken at arrival 8, 16, 32, ... since the last effect, and
// later arrivals are compared with the latest one. So a loop of any shape is found (delay loops and
// calls inside the waiting loop included), and a loop that computes pays almost nothing. Two
// iterations of equal cost are required, because the first may still have warmed a cache; one is
// enough where the port has seen that it did not. It must lie within one run(), or within runs
// between which nothing changed: an iteration that read some memory before a change and the rest
// after it proves nothing.
//
// When a hart comes back to where it waited last, a port that watches accesses (Watch) is told at
// once, and the iteration that begins there is the first that counts.
//
// Invariant: fewer than kFirst arrivals since the last effect means there is no snapshot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hart/instruction.hh"
#include "hart/predictor.hh"

namespace uncore {

class SpinDetector {
 public:
  // The counters a period is measured in.
  struct Meter {
    uint64_t clock, instructions, branches, mispredicts, pauses;
    bool operator==(const Meter&) const = default;
    Meter operator-(const Meter& o) const {
      return {clock - o.clock, instructions - o.instructions, branches - o.branches,
              mispredicts - o.mispredicts, pauses - o.pauses};
    }
  };

  // State of the port's watch on the accesses of an iteration.
  enum class Watch : uint8_t {
    none,      // the port does not watch
    possible,  // the port can watch, but does not know this iteration to be steady
    steady,    // each access of this iteration will cost the same in the next
  };

  void effect() { arrivals_ = 0; }

  // Notes that memory may have changed: the present iteration proves nothing.
  void disturb() { whole_ = false; }

  // Does what arrive() does where that need not compare anything. Returns false, having done
  // nothing, if arrive() has to be called.
  [[gnu::always_inline]] bool try_pass(uint64_t pc) {
    const bool looks = arrivals_ + 1 >= kFirst || pc == spins_at_;
    arrivals_ += !looks;
    return !looks;
  }

  // Called when the hart has arrived at pc `by` a branch or jump. Returns true for a steady loop,
  // one iteration of which is period(); or, where the port can watch, for what is probably one, so
  // that the port watches the next iteration.
  bool arrive(uint64_t pc, const uint64_t* x, const Predictor& predictor, const Instruction& by,
              const Meter& now, Watch watch) {
    if (arrivals_ >= kFirst) {
      // The registers a loop branch compares are those most likely to differ.
      const bool maybe = pc == pc_ && x[by.rs1] == x_[by.rs1] && x[by.rs2] == x_[by.rs2];
      if (maybe && same(x, predictor)) return measure(now, watch);
    } else if (pc == spins_at_) {
      arrivals_ = kFirst;
      look(pc, x, predictor, now);
      return watch == Watch::possible;
    }
    if (++arrivals_ >= kFirst && (arrivals_ & (arrivals_ - 1)) == 0) look(pc, x, predictor, now);
    return false;
  }

  const Meter& period() const { return period_; }
  // Are arrivals compared with a snapshot?
  bool looks() const { return arrivals_ >= kFirst; }

 private:
  static constexpr uint64_t kFirst = 8;

  bool same(const uint64_t* x, const Predictor& predictor) const {
    return std::memcmp(x, x_, sizeof x_) == 0 && predictor.table == table_;
  }

  bool measure(const Meter& now, Watch watch) {
    const Meter iteration = now - mark_;
    const bool steady = whole_ && (watch == Watch::steady || iteration == period_);
    if (steady) spins_at_ = pc_;
    period_ = iteration;
    mark_ = now;
    whole_ = true;
    return steady;
  }

  void look(uint64_t pc, const uint64_t* x, const Predictor& predictor, const Meter& now) {
    pc_ = pc;
    std::memcpy(x_, x, sizeof x_);
    table_ = predictor.table;
    mark_ = now;
    period_ = {};
    whole_ = true;
  }

  uint64_t arrivals_ = 0;  // since the last effect
  uint64_t spins_at_ = 1;  // pc at which the hart waited last; 1: none, because no pc is odd
  uint64_t pc_ = 0;
  bool whole_ = false;  // the present iteration has not been disturbed
  Meter mark_ = {}, period_ = {};
  uint64_t x_[kSink] = {};
  Predictor::Table table_ = {};
};

}  // namespace uncore
