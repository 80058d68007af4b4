// Instructions of F and D: loads, stores, and those that compute (floating.hh). All of them are
// illegal while mstatus.FS is off.
//
// The spin detector counts each of them as an effect, because a loop with floating point computes
// instead of waiting.
#pragma once

#include "hart/loads_stores.hh"

namespace uncore::execute {

template <class T, class Port>
bool load_float(Hart<Port>& h, const Instruction& in) {
  constexpr uint64_t kBox = sizeof(T) == ieee::Single::kBytes ? ieee::Single::kBox : 0;
  if (!h.privilege.has_floats()) return trap_illegal(h);
  h.spin.note_effect();
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
  h.spin.note_effect();
  unsigned flags = 0;
  h.x[in.rd] = compute(in, h.x, mode, flags);
  h.floats.fflags |= static_cast<uint8_t>(flags);
  if (flags || in.rd >= kFloat) h.privilege.dirty_floats();
  h.retire(in.length, h.cost.instruction);
  return true;
}

}  // namespace uncore::execute
