// Tracks the accesses that a hart's registers depend on: the syntactic dependencies of RVWMO,
// carried as times.
//
// The view of a register is the latest time at which any access was seen on which its value
// depends, through any chain of instructions (H8.7). The port provides the views of values that
// loads and atomics read. Hart::run_viewed() reports each instruction to a Views.
//
// Interface for the port: `address` and `data` are the views of the operands of the access being
// executed; the port sets `result` to the view of the value that the access read.
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

  // Begins an instruction. `second`: this is the second half of a split access.
  void begin(const Instruction& in, bool second) {
    address = views_[in.rs1];
    data = std::max(views_[in.rs2], is_compare(in) ? views_[in.rd] : 0);
    first_ = second ? result : 0;
    result = 0;
  }
  // Ends an instruction that has retired.
  void end(const Instruction& in) {
    result = std::max(first_, result);
    if (is_csr(in.op)) result = csrs_ = std::max(csrs_, views_[in.rs1]);
    if (in.op == Op::floating) return track_float(in);
    views_[in.rd] =
        is_csr(in.op) || reads_memory(in.op) ? result : std::max(views_[in.rs1], views_[in.rs2]);
    if (in.op == Op::amocas_q && in.rd != kSink) views_[in.rd + 1] = result;
  }
  // Records an instruction that waits for its access. It retires when the hart resumes, and
  // resume() ends it.
  void suspend(const Instruction& in) { suspended_ = in, waits_ = true; }
  void resume() {
    if (waits_) end(suspended_);
    waits_ = false;
  }

 private:
  // Tracks a floating-point instruction. The dependency on the rounding mode is ignored; the
  // dependency on the exception flags is not.
  void track_float(const Instruction& in) {
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
  uint64_t first_ = 0;  // view of the value that the first half of a split access read
  uint64_t csrs_ = 0;   // view of the CSRs, which are treated as one register
  Instruction suspended_;
  bool waits_ = false;
};

}  // namespace uncore
