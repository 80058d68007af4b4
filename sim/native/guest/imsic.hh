// A hart's supervisor-level interrupt file of an IMSIC: the MSIs pending for the hart, and the one
// to take next (RISC-V Advanced Interrupt Architecture 1.0, chapter 3).
//
// Interface: deliver() an MSI; read() and write() access a CSR (siselect, sireg, stopei); level()
// is true while the file interrupts its hart; taken() is the number of device MSIs that the hart
// has claimed.
#pragma once

#include <bit>
#include <cstdint>

#include "hart/csr.hh"

namespace uncore {

class Imsic {
 public:
  void deliver(uint64_t identity, bool by_device) {
    if (identity >= 64) return;
    const uint64_t bit = uint64_t{1} << identity & kIdentities;
    pending_ |= bit;
    by_device_ = by_device ? by_device_ | bit : by_device_ & ~bit;
  }
  uint64_t taken() const { return taken_; }
  bool level() const { return delivers_ && top(); }

  // read() and write() return false if the file has no such CSR.
  bool read(unsigned csr, uint64_t& value) const {
    if (csr == CsrNumber::stopei) return value = top() << 16 | top(), true;
    if (csr == CsrNumber::siselect) return value = select_, true;
    if (csr != CsrNumber::sireg) return false;
    value = select_ == kEidelivery    ? delivers_
            : select_ == kEithreshold ? threshold_
            : select_ == kEip0        ? pending_
            : select_ == kEie0        ? enabled_
                                      : 0;
    return true;
  }
  bool write(unsigned csr, uint64_t value) {
    if (csr == CsrNumber::stopei) return take(uint64_t{1} << top()), true;
    if (csr == CsrNumber::siselect) return select_ = value, true;
    if (csr != CsrNumber::sireg) return false;
    if (select_ == kEidelivery) delivers_ = value & 1;
    if (select_ == kEithreshold) threshold_ = value & 63;
    if (select_ == kEip0) pending_ = value & kIdentities;
    if (select_ == kEie0) enabled_ = value & kIdentities;
    return true;
  }

 private:
  static constexpr uint64_t kIdentities =
      ~uint64_t{1};  // identities 1 to 63: the fewest that the specification allows
  enum : uint64_t { kEidelivery = 0x70, kEithreshold = 0x72, kEip0 = 0x80, kEie0 = 0xC0 };

  void take(uint64_t bit) {
    taken_ += (pending_ & by_device_ & bit) != 0;
    pending_ &= ~bit;
  }
  // Returns the identity to take next, which is the lowest; 0 if there is none.
  uint64_t top() const {
    const uint64_t below = threshold_ ? (uint64_t{1} << threshold_) - 1 : ~uint64_t{0};
    const uint64_t deliverable = pending_ & enabled_ & below;
    return deliverable ? static_cast<uint64_t>(std::countr_zero(deliverable)) : 0;
  }

  bool delivers_ = false;
  uint64_t threshold_ = 0, pending_ = 0, enabled_ = 0, select_ = 0;
  uint64_t by_device_ = 0, taken_ = 0;
};

}  // namespace uncore
