// The port of a thread, as the interpreter inlines it: included where harts run, nowhere else.
#pragma once

#include <algorithm>

#include "core/core.hh"
#include "engine/engine.hh"
#include "uncore_abi.h"

namespace uncore {

// Where a device register is, as on QEMU's `virt` machine.
inline constexpr uint64_t kClint = UC_CLINT_BASE;
inline constexpr uint64_t kMtimecmp = UC_CLINT_BASE + UC_CLINT_MTIMECMP;
inline constexpr uint64_t kMtime = UC_CLINT_BASE + UC_CLINT_MTIME;
inline constexpr uint64_t kUart = UC_UART_BASE;

inline Answer Thread::load(uint64_t address, unsigned size, uint64_t& value) {
  if (buffer.empty() && !recording) [[likely]] {
    Line* line = core.lines.recent(address >> kLineShift);
    if (line && core.engine.may_load(line->copy.state)) [[likely]] {
      core.lines.touch(*line);
      hart.clock += core.spec.l1_hit;
      value = line->data.read(address % kLineBytes, size);
      return Answer::now;
    }
  }
  Outcome out;
  const Answer answer = issue(
      {.kind = Access::Kind::load, .size = static_cast<uint8_t>(size), .address = address}, out);
  value = out.value;
  return answer;
}

inline Answer Thread::store(uint64_t address, unsigned size, uint64_t value) {
  if (buffer.empty()) [[likely]] {
    Line* line = core.lines.recent(address >> kLineShift);
    if (line && core.engine.may_store(line->copy.state)) [[likely]] {
      core.lines.touch(*line);
      line->copy.state = core.engine.stored(line->copy.state);
      core.written(*line, hart.clock, *this);
      line->data.write(address % kLineBytes, size, value);
      return Answer::now;
    }
  }
  Outcome out;
  return issue({.kind = Access::Kind::store,
                .size = static_cast<uint8_t>(size),
                .address = address,
                .value = value},
               out);
}

inline Answer Thread::amo(Amo op, uint64_t address, unsigned size, uint64_t operand,
                          uint64_t expected, uint64_t& old, unsigned) {
  Outcome out;
  const Answer answer = issue({.kind = Access::Kind::amo,
                               .op = op,
                               .size = static_cast<uint8_t>(size),
                               .address = address,
                               .value = operand,
                               .expected = expected},
                              out);
  old = out.value;
  return answer;
}

inline Answer Thread::cas_pair(uint64_t address, Pair operand, Pair expected, Pair& old, unsigned) {
  Outcome out;
  const Answer answer = issue({.kind = Access::Kind::cas_pair,
                               .size = 16,
                               .address = address,
                               .value = operand.low,
                               .expected = expected.low,
                               .value_high = operand.high,
                               .expected_high = expected.high},
                              out);
  old = {out.value, out.high};
  return answer;
}

inline Answer Thread::lr(uint64_t address, unsigned size, uint64_t& value, unsigned) {
  Outcome out;
  const Answer answer = issue(
      {.kind = Access::Kind::lr, .size = static_cast<uint8_t>(size), .address = address}, out);
  value = out.value;
  return answer;
}

inline Answer Thread::sc(uint64_t address, unsigned size, uint64_t value, uint64_t& failed,
                         unsigned) {
  Outcome out;
  const Answer answer = issue({.kind = Access::Kind::sc,
                               .size = static_cast<uint8_t>(size),
                               .address = address,
                               .value = value},
                              out);
  failed = out.value;
  return answer;
}

inline Answer Thread::fence(unsigned, unsigned) {
  if (buffer.empty()) return Answer::now;
  Outcome out;
  return issue({.kind = Access::Kind::fence}, out);
}

inline Answer Thread::issue(const Access& access, Outcome& outcome) {
  if (core.perform(*this, access, hart.clock, outcome)) {
    hart.clock += outcome.cost;
    return Answer::now;
  }
  pending = access;
  return Answer::later;
}

inline Answer Thread::mmio(uint64_t address, unsigned, bool write, uint64_t& value) {
  const uint64_t harts = core.engine.threads();
  if (address >= kClint && address < kClint + 4 * harts) {
    const uint64_t target = (address - kClint) / 4;
    if (write && (value & 1)) {
      Outcome out;
      return issue({.kind = Access::Kind::ipi, .value = target}, out);
    }
    if (write)
      core.engine.clear_software(target, hart.clock);
    else
      value = core.engine.software_pending(target);
    return Answer::now;
  }
  if (address >= kMtimecmp && address < kMtimecmp + 8 * harts) {
    Thread& target = core.engine.thread((address - kMtimecmp) / 8);
    if (write) core.engine.set_timer(target, value, hart.clock);
    if (&target.core == &core && value < kNever / 1000)
      core.shorten(value * 1000);
    else
      value = target.timer;
    return Answer::now;
  }
  if (address == kMtime) {
    value = time();
    return Answer::now;
  }
  if (address >= kUart && address < kUart + 8) {
    if (write && address == kUart) core.engine.console.push_back(static_cast<char>(value));
    if (!write) value = address == kUart + 5 ? 0x60 : 0;  // line status: transmitter empty
    return Answer::now;
  }
  return Answer::fault;
}

inline bool Thread::mapped(uint64_t address, unsigned size) const {
  return address - kRamBase + size <= core.engine.ram_size();
}

inline bool Thread::fetch(uint64_t address, uint32_t& word) {
  return core.engine.fetch(address, word);
}

inline uint64_t Thread::cycle() { return hart.clock / std::max<Time>(1, core.spec.instruction); }

inline void Thread::marker(unsigned code, uint64_t value) {
  core.engine.marker(*this, code, value);
}

inline void Thread::trapped(uint64_t, bool interrupt) {
  if (interrupt) hart.clock += core.engine.machine.interrupt.entry;
  interrupted = interrupt;
  reservation = kNoLine;
  core.unlock(*this, hart.clock);
}

inline void Thread::returned() {
  if (interrupted) hart.clock += core.engine.machine.interrupt.exit;
  interrupted = false;
}

}  // namespace uncore
