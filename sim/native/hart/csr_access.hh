// Reads and writes CSRs by number, by the rows of isa/csrs.def. Privilege::permits() tells whether
// an instruction in the present mode may access a CSR.
#pragma once

#include "hart/hart_class.hh"

namespace uncore {
namespace csrs {

constexpr uint64_t merged(uint64_t old, uint64_t value, uint64_t mask) {
  return (old & ~mask) | (value & mask);
}

template <class Port>
uint64_t cycles(const Hart<Port>& h) {
  return h.port.cycle() + h.cycle_offset;
}

template <class Port>
void write_satp(Hart<Port>& h, uint64_t value) {
  if (Satp{value}.legal()) h.privilege.satp.bits = value;
  if (h.translation) h.translation->mmu.forget();
}

// The supervisor's timer (Sstc), if the port has one.
template <class Port>
constexpr bool kHasTimer = requires(Port& port, uint64_t when) { port.set_timer(when); };

template <class Port>
bool has_timer(const Hart<Port>& h) {
  return kHasTimer<Port> && h.privilege.supervised;
}
template <class Port>
uint64_t timer(const Hart<Port>& h) {
  if constexpr (kHasTimer<Port>) return h.port.timer();
  return 0;
}
template <class Port>
void set_timer(Hart<Port>& h, uint64_t when) {
  if constexpr (kHasTimer<Port>) h.port.set_timer(when);
}

// The supervisor's external interrupts (Ssaia), if the port has an interrupt file.
template <class Port>
constexpr bool kHasImsic =
    requires(Port& port, unsigned number, uint64_t& value) { port.read_imsic_csr(number, value); };

template <class Port>
bool has_imsic(const Hart<Port>& h) {
  return kHasImsic<Port> && h.privilege.supervised;
}
template <class Port>
bool read_imsic(const Hart<Port>& h, unsigned number, uint64_t& value) {
  if constexpr (kHasImsic<Port>) return has_imsic(h) && h.port.read_imsic_csr(number, value);
  return false;
}
template <class Port>
bool write_imsic(Hart<Port>& h, unsigned number, uint64_t value) {
  if constexpr (kHasImsic<Port>) return has_imsic(h) && h.port.write_imsic_csr(number, value);
  return false;
}
template <class Port>
uint64_t read_stopi(const Hart<Port>& h) {
  const uint64_t value = h.privilege.stopi();
  if constexpr (kHasImsic<Port>) h.port.stopi_read(value >> 16);
  return value;
}

}  // namespace csrs

template <class Port>
bool Hart<Port>::read_csr(unsigned number, uint64_t& value) {
  using namespace csrs;
  const Hart& h = *this;
  const Privilege& p = privilege;
  const FloatStatus& float_status = floats;
  switch (number) {
#define CSR(number, name, exists, read, ...) \
  case CsrNumber::name:                      \
    if (!(exists)) return false;             \
    value = read;                            \
    return true;
#define ZEROS(first, name, last, last_name, exists) \
  case first ... last:                              \
    value = 0;                                      \
    return exists;
#define IMSIC(number, name) \
  case CsrNumber::name:     \
    return read_imsic(h, number, value);
#include "hart/isa/csrs.def"
  }
  return false;
}

template <class Port>
bool Hart<Port>::write_csr(unsigned number, uint64_t v) {
  using namespace csrs;
  Hart& h = *this;
  Privilege& p = privilege;
  FloatStatus& float_status = floats;
  if (CsrNumber::read_only(number)) return false;
  switch (number) {
#define CSR(number, name, exists, read, ...) \
  case CsrNumber::name:                      \
    if (!(exists)) return false;             \
    __VA_ARGS__;                             \
    break;
#define ZEROS(first, name, last, last_name, exists) \
  case first ... last:                              \
    if (!(exists)) return false;                    \
    break;
#define IMSIC(number, name)                       \
  case CsrNumber::name:                           \
    if (!write_imsic(h, number, v)) return false; \
    break;
#include "hart/isa/csrs.def"
    default:
      return false;
  }
  privilege_changed();
  return true;
}

}  // namespace uncore
