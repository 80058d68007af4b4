// struct rt_sigframe of riscv64: the state that a signal handler finds on its stack, and that
// rt_sigreturn restores.
#pragma once

#include <algorithm>
#include <cstdint>

#include "os/task.hh"

namespace uncore {

struct SignalFrame {
  struct Info {  // siginfo_t
    int32_t number, error, code, pad;
    uint64_t value, rest[13];
  } info;
  uint64_t flags, link;  // ucontext_t
  uint64_t stack[3];
  uint64_t mask;
  uint8_t unused[120];
  uint64_t align;
  uint64_t registers[32];  // pc, x1 to x31
  uint64_t floating[66];   // f0 to f31, fcsr

  static constexpr unsigned kContextOffset = 128;  // offset of the ucontext_t in bytes
  static constexpr unsigned kFcsrIndex = 32;       // index of fcsr in `floating`

  static Info info_of(const SignalInfo& signal) {
    return {.number = static_cast<int32_t>(signal.number),
            .error = 0,
            .code = signal.code,
            .pad = 0,
            .value = signal.value,
            .rest = {signal.sent}};
  }
  void save(Hart<Thread>& hart) {
    registers[0] = hart.pc;
    std::copy_n(hart.x + 1, 31, registers + 1);
    std::copy_n(hart.x + kFloat, 32, floating);
    hart.read_csr(CsrNumber::fcsr, floating[kFcsrIndex]);
  }
  void load(Hart<Thread>& hart) const {
    hart.pc = registers[0];
    std::copy_n(registers + 1, 31, hart.x + 1);
    std::copy_n(floating, 32, hart.x + kFloat);
    hart.write_csr(CsrNumber::fcsr, static_cast<uint32_t>(floating[kFcsrIndex]));
  }
};
static_assert(sizeof(SignalFrame) == 128 + 176 + 256 + 528);

}  // namespace uncore
