// What a hart's registers depend on: the syntactic dependencies of RVWMO, carried as times.
//
// The view of a register is the newest time that its value follows from, by whatever instructions;
// loads and atomics bring views in, as the port says. A hart that is to be followed is run by
// run_viewed() instead of run(): the same, and tells a Views of each instruction.
//
// Interface: for the port `address` and `data`, of the access that is being executed, and `result`,
// which it sets to the view of what the access answered.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "hart/instruction.hh"

namespace uncore {

class Views {
 public:
  uint64_t address = 0, data = 0;
  uint64_t result = 0;

  using Registers = std::array<uint64_t, kRegisters>;
  const Registers& registers() const { return views_; }

  // `second`: with the second of its two accesses.
  void begins(const Instruction& in, bool second) {
    address = views_[in.rs1];
    data = std::max(views_[in.rs2], is_compare(in) ? views_[in.rd] : 0);
    first_ = second ? result : 0;
    result = 0;
  }
  // It has retired.
  void ends(const Instruction& in) {
    result = std::max(first_, result);
    if (is_csr(in.op)) result = csrs_ = std::max(csrs_, views_[in.rs1]);
    if (in.op == Op::floating) return computes(in);
    views_[in.rd] =
        is_csr(in.op) || reads_memory(in.op) ? result : std::max(views_[in.rs1], views_[in.rs2]);
    if (in.op == Op::amocas_q && in.rd != kSink) views_[in.rd + 1] = result;
  }
  // It has not yet, for it waits; by the next one it will have.
  void suspends(const Instruction& in) { suspended_ = in, waits_ = true; }
  void resumes() {
    if (waits_) ends(suspended_);
    waits_ = false;
  }

 private:
  // The rounding mode is not followed; flags are.
  void computes(const Instruction& in) {
    views_[in.rd] = std::max({views_[in.rs1], views_[in.rs2], views_[in.size]});
    csrs_ = std::max(csrs_, views_[in.rd]);
  }
  static bool is_csr(Op op) { return op >= Op::csrrw && op <= Op::csrrci; }
  static bool is_compare(const Instruction& in) {
    return (in.op == Op::amo && in.amo == Amo::cas) || in.op == Op::amocas_q;
  }
  static bool reads_memory(Op op) {
    return (op >= Op::lb && op <= Op::lwu) || op == Op::flw || op == Op::fld || op == Op::amo ||
           (op >= Op::lr && op <= Op::amocas_q);
  }

  Registers views_{};
  uint64_t first_ = 0;  // what the first of two accesses answered
  uint64_t csrs_ = 0;   // CSRs carry dependencies, too: all of them as one
  Instruction suspended_;
  bool waits_ = false;
};

}  // namespace uncore
