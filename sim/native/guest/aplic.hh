// An APLIC: it turns the level of a device's interrupt wire into MSIs to interrupt files (RISC-V
// Advanced Interrupt Architecture 1.0, chapter 4; MSI delivery mode only). It has one source.
//
// Interface: read() and write() access a register; wire() sets the wire's level. write() and wire()
// return the MSI to send, if there is one.
#pragma once

#include <cstdint>
#include <optional>

namespace uncore {

class Aplic {
 public:
  struct Msi {
    uint32_t hart;
    uint64_t identity;
  };

  uint64_t read(uint32_t offset) const {
    switch (offset) {
      case kDomaincfg:
        return uint64_t{0x80} << 24 | uint64_t{on_} << 8 | kMsiDelivery;
      case kSourcecfg:
        return mode_;
      case kSetip:
        return uint64_t{pending_} << 1;
      case kInClrip:
        return uint64_t{rectified()} << 1;
      case kSetie:
        return uint64_t{enabled_} << 1;
      case kTarget:
        return target_;
      default:
        return 0;
    }
  }

  std::optional<Msi> write(uint32_t offset, uint64_t value) {
    // True if the value names source 1: by bit 1 of a mask, or by its number.
    const bool all = value >> 1 & 1, number = value == 1;
    switch (offset) {
      case kDomaincfg:
        on_ = value >> 8 & 1;
        break;
      case kSourcecfg:
        mode_ = value & 7;
        if (!mode_) pending_ = enabled_ = false;
        break;
      case kTarget:
        target_ = static_cast<uint32_t>(value);
        break;
      case kSetip:
      case kSetipnum:
      case kSetipnumLe:
        if (offset == kSetip ? all : number) pending_ |= mode_ && (!by_level() || rectified());
        break;
      case kInClrip:
      case kClripnum:
        pending_ &= !(offset == kInClrip ? all : number);
        break;
      case kSetie:
      case kSetienum:
        enabled_ |= mode_ && (offset == kSetie ? all : number);
        break;
      case kClrie:
      case kClrienum:
        enabled_ &= !(offset == kClrie ? all : number);
        break;
    }
    return send();
  }

  std::optional<Msi> wire(bool level) {
    const bool was_rectified = rectified();
    wire_ = level;
    if (rectified() && !was_rectified) pending_ = true;
    if (by_level() && !rectified()) pending_ = false;
    return send();
  }

 private:
  enum : uint32_t {
    kDomaincfg = 0,
    kSourcecfg = 4,
    kSetip = 0x1C00,
    kSetipnum = 0x1CDC,
    kInClrip = 0x1D00,
    kClripnum = 0x1DDC,
    kSetie = 0x1E00,
    kSetienum = 0x1EDC,
    kClrie = 0x1F00,
    kClrienum = 0x1FDC,
    kSetipnumLe = 0x2000,
    kTarget = 0x3004,
  };
  static constexpr uint64_t kMsiDelivery = 1 << 2;                             // domaincfg.DM
  static constexpr uint64_t kEdge1 = 4, kEdge0 = 5, kLevel1 = 6, kLevel0 = 7;  // sourcecfg.SM

  bool by_level() const { return mode_ == kLevel1 || mode_ == kLevel0; }
  bool rectified() const {
    if (mode_ == kLevel1 || mode_ == kEdge1) return wire_;
    return (mode_ == kLevel0 || mode_ == kEdge0) && !wire_;
  }
  std::optional<Msi> send() {
    if (!(on_ && pending_ && enabled_)) return std::nullopt;
    pending_ = false;
    return Msi{target_ >> 18, target_ & 0x7FF};
  }

  bool on_ = false, wire_ = false, pending_ = false, enabled_ = false;
  uint64_t mode_ = 0;
  uint32_t target_ = 0;
};

}  // namespace uncore
