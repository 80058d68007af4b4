// Atomics (A, Zacas, Zabha) and fences. Atomics access only RAM, and must be aligned.
#pragma once

#include "hart/loads_stores.hh"

namespace uncore::execute {

// Replaces the virtual address of an atomic by its physical one.
template <class Port>
Reach reach_atomic(Hart<Port>& h, uint64_t& address, unsigned size, Right right) {
  if (address % size != 0) return misaligned(right);
  if (h.translation) [[unlikely]]
    if (const Reach reach = h.translation->translate(address, right); !reach) return reach;
  if (address >= h.ram_begin && h.port.mapped(address, size)) [[likely]]
    return {};
  return access_fault(right);
}

template <class Port>
bool atomic(Hart<Port>& h, const Instruction& in) {
  uint64_t address = h.x[in.rs1];
  if (const Reach reach = reach_atomic(h, address, in.size, Right::write); !reach)
    return trap_unreached(h, reach, h.x[in.rs1]);
  h.spin.note_effect();
  uint64_t old = 0;
  const unsigned order = static_cast<unsigned>(in.imm) | (in.rd == kSink ? kUnused : 0);
  const uint64_t expected = in.rd == kSink ? 0 : h.x[in.rd];
  const Answer answer = h.port.amo(in.amo, address, in.size, h.x[in.rs2], expected, old, order);
  return finish(h, answer, {in.rd, kSink, in.size, in.length}, kStoreFault, address, old);
}

// Executes amocas.q. A register pair that starts at x0 reads as zero, and is not written.
template <class Port>
bool atomic_pair(Hart<Port>& h, const Instruction& in) {
  uint64_t address = h.x[in.rs1];
  if (const Reach reach = reach_atomic(h, address, 16, Right::write); !reach)
    return trap_unreached(h, reach, h.x[in.rs1]);
  h.spin.note_effect();
  const auto pair = [&h](unsigned r) {
    return r == 0 || r == kSink ? Pair{0, 0} : Pair{h.x[r], h.x[r + 1]};
  };
  Pair old = {};
  const Answer answer =
      h.port.cas_pair(address, pair(in.rs2), pair(in.rd), old, static_cast<unsigned>(in.imm));
  const auto rd_high = static_cast<uint8_t>(in.rd == kSink ? kSink : in.rd + 1);
  return finish(h, answer, {in.rd, rd_high, 8, in.length}, kStoreFault, address, old.low, old.high);
}

template <class Port>
bool load_reserved(Hart<Port>& h, const Instruction& in) {
  uint64_t address = h.x[in.rs1];
  if (const Reach reach = reach_atomic(h, address, in.size, Right::read); !reach)
    return trap_unreached(h, reach, h.x[in.rs1]);
  h.spin.note_effect();
  h.attempting = true;
  uint64_t value = 0;
  const Answer answer = h.port.lr(address, in.size, value, static_cast<unsigned>(in.imm));
  return finish(h, answer, {in.rd, kSink, in.size, in.length}, kLoadFault, address, value);
}

template <class Port>
bool store_conditional(Hart<Port>& h, const Instruction& in) {
  uint64_t address = h.x[in.rs1];
  if (const Reach reach = reach_atomic(h, address, in.size, Right::write); !reach)
    return trap_unreached(h, reach, h.x[in.rs1]);
  h.spin.note_effect();
  h.attempting = false;
  uint64_t sc_result = 1;
  const Answer answer = h.port.sc(address, in.size, zero_extend(h.x[in.rs2], in.size), sc_result,
                                  static_cast<unsigned>(in.imm));
  return finish(h, answer, {in.rd, kSink, 8, in.length}, kStoreFault, address, sc_result);
}

// Executes a fence. The spin detector does not count it as an effect, because a waiting loop with a
// fence still only waits.
template <class Port>
bool fence(Hart<Port>& h, const Instruction& in) {
  const auto sets = static_cast<unsigned>(in.imm);
  const Answer answer = h.port.fence(sets >> 4 & 15, sets & 15);
  return finish(h, answer, {kSink, kSink, 8, in.length}, Cause{}, 0, 0);
}

// Rule H1.5: fence.tso has the combined effect of `fence r,rw` and `fence w,w` (unprivileged manual
// 2.7). Neither orders a write before a read. Only `fence r,rw` may have to wait: for an atomic in
// the buffer (H8.10), which reads, too.
template <class Port>
bool fence_tso(Hart<Port>& h, const Instruction& in) {
  h.port.fence(kWrites, kWrites);
  const Answer answer = h.port.fence(kReads, kReads | kWrites);
  return finish(h, answer, {kSink, kSink, 8, in.length}, Cause{}, 0, 0);
}

}  // namespace uncore::execute
