// Instructions of F and D: loads, stores and what computes (floating.hh). None of them exists where
// mstatus.FS is off.
//
// To the spin detector each of them is an effect: a loop with floating point computes, and does not
// wait.
#pragma once

#include "hart/loads_stores.hh"

namespace uncore::execute {

template <class T, class Port>
bool load_float(Hart<Port>& h, const Instruction& in) {
  constexpr uint64_t kBox = sizeof(T) == ieee::Single::kBytes ? ieee::Single::kBox : 0;
  if (!h.privilege.has_floats()) return trap_illegal(h);
  h.spin.effect();
  h.privilege.dirty_floats();
  return load<T>(h, in, kBox);
}

template <class T, class Port>
bool store_float(Hart<Port>& h, const Instruction& in) {
  return h.privilege.has_floats() ? store<T>(h, in) : trap_illegal(h);
}

template <class Port>
[[gnu::noinline]] bool floating(Hart<Port>& h, const Instruction& in) {
  const unsigned encoded = rounding_of(in), mode = encoded == kDynamic ? h.floats.frm : encoded;
  if (!h.privilege.has_floats() || mode >= kModes) return trap_illegal(h);
  h.spin.effect();
  unsigned flags = 0;
  h.x[in.rd] = compute(in, h.x, mode, flags);
  h.floats.fflags |= static_cast<uint8_t>(flags);
  if (flags || in.rd >= kFloat) h.privilege.dirty_floats();
  h.retire(in.length, h.cost.instruction);
  return true;
}

}  // namespace uncore::execute
