// The floating-point unit of a hart: loads, stores and what computes (floating.hh). Part of
// hart.hh.
//
// None of it is looked at for waiting loops: a loop with floating point computes.
#pragma once

namespace uncore {

// A register as mstatus.FS says; none of its instructions exists where that is off.
template <class Port>
template <class T>
bool Hart<Port>::load_float(const Instruction& in) {
  constexpr uint64_t kBox = sizeof(T) == ieee::Single::kBytes ? ieee::Single::kBox : 0;
  if (!csr_.has_floats()) return illegal();
  spin_.effect();
  csr_.change_floats();
  return load<T>(in, kBox);
}

template <class Port>
template <class T>
bool Hart<Port>::store_float(const Instruction& in) {
  return csr_.has_floats() ? store<T>(in) : illegal();
}

template <class Port>
[[gnu::noinline]] bool Hart<Port>::floating(const Instruction& in) {
  const unsigned asked = rounding_of(in), mode = asked == kDynamic ? csr_.frm : asked;
  if (!csr_.has_floats() || mode >= kModes) return illegal();
  spin_.effect();
  unsigned flags = 0;
  x[in.rd] = compute(in, x, mode, flags);
  csr_.accrue(flags);
  if (in.rd >= kFloat) csr_.change_floats();
  retire(in.length, cost.instruction);
  return true;
}

}  // namespace uncore
