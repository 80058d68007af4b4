// Rule C9: a contended line belongs to one hart, its holder, until a probe of it has been answered.
//
//   asked(hart), begins(others wait), probe_waits(), ends()     what happens to the line
//   bars(hart)                                                  is it another hart's?
#pragma once

#include <cstdint>
#include <optional>

namespace uncore {

class Contended {
 public:
  // Should others wait for the line when it comes, it is this hart's.
  void asked(uint32_t hart) { holder_ = hart; }
  void begins(bool others_wait) { contended_ = others_wait; }
  void probe_waits() { contended_ = true; }
  // The holder whose time with the line is over.
  std::optional<uint32_t> ends() {
    if (!contended_) return std::nullopt;
    contended_ = false;
    return holder_;
  }

  explicit operator bool() const { return contended_; }
  bool bars(uint32_t hart) const { return contended_ && hart != holder_; }

 private:
  uint32_t holder_ = 0;
  bool contended_ = false;
};

}  // namespace uncore
