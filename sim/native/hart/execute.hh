// How a hart executes: the interpreter loop, and one member function for each kind of instruction
// that is more than a value. Part of hart.hh; the meanings of the ALU come from instructions.def.
//
// Every function that executes an instruction either retires it (once), enters a trap, or leaves
// the hart as it was and stops.
#pragma once

#include <limits>
#include <type_traits>

#include "hart/hart.hh"

namespace uncore {

// The vocabulary of instructions.def: u unsigned, s signed, word sign-extended 32 bits.
namespace meaning {

__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;

constexpr uint64_t u(int64_t v) { return static_cast<uint64_t>(v); }
constexpr int64_t s(uint64_t v) { return static_cast<int64_t>(v); }
constexpr uint64_t word(uint64_t v) { return sign_extend(v, 4); }
constexpr Wide wide(int64_t v) { return v; }
constexpr Wide wide(uint64_t v) { return v; }
constexpr UWide uwide(uint64_t v) { return v; }
constexpr uint64_t high(UWide v) { return static_cast<uint64_t>(v >> 64); }

// Division never traps: by zero it gives all ones and the dividend; the one signed overflow gives
// the dividend and zero.
template <class T>
constexpr bool overflows(T a, T b) {
  return std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1);
}
template <class T>
constexpr T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  return overflows(a, b) ? a : a / b;
}
template <class T>
constexpr T rest(T a, T b) {
  if (b == 0) return a;
  return overflows(a, b) ? 0 : a % b;
}

}  // namespace meaning

template <class Port>
Stop Hart<Port>::run() {
  static_assert(HartPort<Port>);
  using namespace meaning;
  if (suspended_) return Stop::later;
  if (waiting_ && !wakes()) return Stop::wfi;
  waiting_ = false;
  if (!undisturbed) spin_.disturb();
  for (;;) {
    if (clock > horizon) return Stop::horizon;
    if (attention_ && !interrupted()) [[unlikely]]
      return stop_;
    Instruction* in = code_.find(pc);
    if (in == nullptr) in = &(outside_ = {});
  dispatch:
    switch (in->op) {
      case Op::undecoded:
        if (decode_at(pc, *in)) goto dispatch;
        if (!trap(kFetchFault, pc)) return stop_;
        continue;

#define ALU(name, match, mask, format, value)                       \
  case Op::name: {                                                  \
    [[maybe_unused]] const uint64_t a = x[in->rs1], b = x[in->rs2]; \
    [[maybe_unused]] const int64_t imm = in->imm;                   \
    x[in->rd] = value;                                              \
    retire(in->length, cost.instruction);                           \
    continue;                                                       \
  }
#define BRANCH(name, match, mask, condition)       \
  case Op::name: {                                 \
    const uint64_t a = x[in->rs1], b = x[in->rs2]; \
    if (!branch(*in, condition)) return stop_;     \
    continue;                                      \
  }
#define EXECUTE(name, call)  \
  case Op::name:             \
    if (!call) return stop_; \
    continue;
#define LOAD(name, match, mask, type) EXECUTE(name, load<type>(*in))
#define STORE(name, match, mask, type) EXECUTE(name, store<type>(*in))
#define AMO(name, funct5, operation)
#define OTHER(name, match, mask, format)
#include "hart/instructions.def"

        EXECUTE(jal, jump(*in, pc + u(in->imm)))
        EXECUTE(jalr, jump(*in, (x[in->rs1] + u(in->imm)) & ~uint64_t{1}))
        EXECUTE(amo, atomic(*in))
        EXECUTE(amocas_q, atomic_pair(*in))
        EXECUTE(lr, load_reserved(*in))
        EXECUTE(sc, store_conditional(*in))
        EXECUTE(fence, fence(*in))
        EXECUTE(wfi, wfi())
        EXECUTE(ecall, trap(kMachineEcall, 0))
        EXECUTE(ebreak, ebreak(*in))
        EXECUTE(illegal, illegal())
        EXECUTE(csrrw, csr(*in, x[in->rs1], true))
        EXECUTE(csrrs, csr(*in, x[in->rs1], in->rs1 != 0))
        EXECUTE(csrrc, csr(*in, x[in->rs1], in->rs1 != 0))
        EXECUTE(csrrwi, csr(*in, in->rs1, true))
        EXECUTE(csrrsi, csr(*in, in->rs1, in->rs1 != 0))
        EXECUTE(csrrci, csr(*in, in->rs1, in->rs1 != 0))
#undef EXECUTE

      case Op::pause:
        ++pauses;
        retire(in->length, cost.pause);
        continue;
      case Op::marker:
        spin_.effect();
        port_.marker(in->imm & 0xfff, x[in->rs1]);
        retire(in->length, cost.instruction);
        continue;
      case Op::fence_i:
        spin_.effect();
        retire(in->length, cost.instruction);
        code_.drop();
        port_.fence_i();
        continue;
      case Op::mret:
        leave_trap();
        continue;
    }
  }
}

template <class Port>
bool Hart<Port>::decode_at(uint64_t address, Instruction& in) {
  uint32_t word;
  if (!port_.fetch(address, word)) return false;
  in = decode(word);
  if (&in != &outside_) code_.decoded(&in);
  return true;
}

// ---- control flow

template <class Port>
bool Hart<Port>::branch(const Instruction& in, bool taken) {
  const bool backward = in.imm <= 0;
  if (taken && attempting_) [[unlikely]] {
    attempting_ = false;
    port_.gave_up();
  }
  const bool wrong = predictor_.wrong(pc, backward, taken);
  ++branches;
  mispredicts += wrong;
  retire(0, cost.instruction + (wrong ? cost.mispredict : 0));
  pc += taken ? static_cast<uint64_t>(in.imm) : in.length;
  return !(taken && backward) || arrived(in);
}

template <class Port>
bool Hart<Port>::jump(const Instruction& in, uint64_t target) {
  const bool backward = target <= pc;
  x[in.rd] = pc + in.length;
  retire(0, cost.instruction);
  pc = target;
  return !backward || arrived(in);
}

// At the target of a taken backward branch or jump.
template <class Port>
bool Hart<Port>::arrived(const Instruction& by) {
  if (!spin_enabled || !spin_.arrive(pc, x, predictor_, by, meter())) return true;
  const SpinDetector::Meter& turn = spin_.period();
  spin_period = turn.clock;
  spin_instructions = turn.instructions;
  spin_branches = turn.branches;
  spin_mispredicts = turn.mispredicts;
  spin_pauses = turn.pauses;
  return stop(Stop::spin);
}

template <class Port>
void Hart<Port>::skip(uint64_t n) {
  clock += n * spin_period;
  instructions += n * spin_instructions;
  branches += n * spin_branches;
  mispredicts += n * spin_mispredicts;
  pauses += n * spin_pauses;
}

// ---- memory

template <class Port>
template <class T>
bool Hart<Port>::load(const Instruction& in) {
  constexpr unsigned size = sizeof(T);
  const uint64_t address = x[in.rs1] + static_cast<uint64_t>(in.imm);
  if (address % size != 0) return trap(kLoadMisaligned, address);
  uint64_t value = 0;
  Answer answer;
  if (address >= kRamBase) [[likely]] {
    if (!port_.mapped(address, size)) return trap(kLoadFault, address);
    answer = port_.load(address, size, value);
  } else {
    spin_.effect();
    answer = port_.mmio(address, size, false, value);
  }
  const Landing to{in.rd, kSink, std::is_signed_v<T> ? size : 8, in.length};
  return finish(answer, to, kLoadFault, address, value);
}

template <class Port>
template <class T>
bool Hart<Port>::store(const Instruction& in) {
  constexpr unsigned size = sizeof(T);
  const uint64_t address = x[in.rs1] + static_cast<uint64_t>(in.imm);
  if (address % size != 0) return trap(kStoreMisaligned, address);
  spin_.effect();
  uint64_t value = static_cast<T>(x[in.rs2]);
  Answer answer;
  if (address >= kRamBase) [[likely]] {
    if (!port_.mapped(address, size)) return trap(kStoreFault, address);
    answer = port_.store(address, size, value);
  } else {
    answer = port_.mmio(address, size, true, value);
  }
  return finish(answer, {kSink, kSink, 8, in.length}, kStoreFault, address, 0);
}

// Atomics work on RAM only. 0, or the cause of the trap they raise instead.
template <class Port>
uint64_t Hart<Port>::refused(uint64_t address, unsigned size, Cause misaligned, Cause fault) const {
  if (address % size != 0) return misaligned;
  if (address < kRamBase || !port_.mapped(address, size)) return fault;
  return 0;
}

template <class Port>
bool Hart<Port>::atomic(const Instruction& in) {
  const uint64_t address = x[in.rs1];
  if (const uint64_t cause = refused(address, in.size, kStoreMisaligned, kStoreFault)) {
    return trap(cause, address);
  }
  spin_.effect();
  uint64_t old = 0;
  const unsigned order = static_cast<unsigned>(in.imm) | (in.rd == kSink ? kUnused : 0);
  const Answer answer = port_.amo(in.amo, address, in.size, x[in.rs2], source(in.rd), old, order);
  return finish(answer, {in.rd, kSink, in.size, in.length}, kStoreFault, address, old);
}

// amocas.q. A pair that starts at x0 reads as zero, and is not written.
template <class Port>
bool Hart<Port>::atomic_pair(const Instruction& in) {
  const uint64_t address = x[in.rs1];
  if (const uint64_t cause = refused(address, 16, kStoreMisaligned, kStoreFault)) {
    return trap(cause, address);
  }
  spin_.effect();
  const auto pair = [this](unsigned r) {
    return r == 0 || r == kSink ? Pair{0, 0} : Pair{x[r], x[r + 1]};
  };
  Pair old = {};
  const Answer answer =
      port_.cas_pair(address, pair(in.rs2), pair(in.rd), old, static_cast<unsigned>(in.imm));
  const auto rd_high = static_cast<uint8_t>(in.rd == kSink ? kSink : in.rd + 1);
  return finish(answer, {in.rd, rd_high, 8, in.length}, kStoreFault, address, old.low, old.high);
}

template <class Port>
bool Hart<Port>::load_reserved(const Instruction& in) {
  const uint64_t address = x[in.rs1];
  if (const uint64_t cause = refused(address, in.size, kLoadMisaligned, kLoadFault)) {
    return trap(cause, address);
  }
  spin_.effect();
  attempting_ = true;
  uint64_t value = 0;
  const Answer answer = port_.lr(address, in.size, value, static_cast<unsigned>(in.imm));
  return finish(answer, {in.rd, kSink, in.size, in.length}, kLoadFault, address, value);
}

template <class Port>
bool Hart<Port>::store_conditional(const Instruction& in) {
  const uint64_t address = x[in.rs1];
  if (const uint64_t cause = refused(address, in.size, kStoreMisaligned, kStoreFault)) {
    return trap(cause, address);
  }
  spin_.effect();
  attempting_ = false;
  uint64_t failed = 1;
  const Answer answer = port_.sc(address, in.size, zero_extend(x[in.rs2], in.size), failed,
                                 static_cast<unsigned>(in.imm));
  return finish(answer, {in.rd, kSink, 8, in.length}, kStoreFault, address, failed);
}

// No effect by itself: after it, a waiting loop waits as before.
template <class Port>
bool Hart<Port>::fence(const Instruction& in) {
  const auto sets = static_cast<unsigned>(in.imm);
  return finish(port_.fence(sets >> 4 & 15, sets & 15), {kSink, kSink, 8, in.length}, 0, 0, 0);
}

// ---- the end of an access

template <class Port>
bool Hart<Port>::finish(Answer answer, Landing to, uint64_t fault, uint64_t address, uint64_t value,
                        uint64_t high) {
  if (answer == Answer::now) [[likely]] {
    land(to, value, high);
    return true;
  }
  if (answer == Answer::fault) return trap(fault, address);
  if (answer == Answer::retry) return stop(Stop::retry);
  spin_.effect();
  landing_ = to;
  suspended_ = true;
  return stop(Stop::later);
}

template <class Port>
void Hart<Port>::land(Landing to, uint64_t value, uint64_t high) {
  x[to.rd] = sign_extend(value, to.sign_size);
  if (to.rd_high != kSink) x[to.rd_high] = high;
  retire(to.length, cost.instruction);
}

template <class Port>
void Hart<Port>::resume(uint64_t value, uint64_t high) {
  suspended_ = false;
  land(landing_, value, high);
}

// ---- CSRs

template <class Port>
bool Hart<Port>::csr(const Instruction& in, uint64_t operand, bool writes) {
  const auto number = static_cast<unsigned>(in.imm);
  uint64_t old;
  if (!read_csr(number, old) || (writes && CsrNumber::read_only(number))) return illegal();
  spin_.effect();
  x[in.rd] = old;
  // Retired first: a counter that is written counts from the next instruction on.
  retire(in.length, cost.instruction);
  if (!writes) return true;
  if (in.op == Op::csrrs || in.op == Op::csrrsi) operand = old | operand;
  if (in.op == Op::csrrc || in.op == Op::csrrci) operand = old & ~operand;
  write_csr(number, operand);
  return true;
}

template <class Port>
bool Hart<Port>::read_csr(unsigned number, uint64_t& value) {
  switch (number) {
    case CsrNumber::mcycle:
    case CsrNumber::cycle:
      value = port_.cycle() + cycle_offset_;
      return true;
    case CsrNumber::minstret:
    case CsrNumber::instret:
      value = instructions + instret_offset_;
      return true;
    case CsrNumber::time:
      value = port_.time();
      return true;
    default:
      return csr_.read(number, value);
  }
}

template <class Port>
bool Hart<Port>::write_csr(unsigned number, uint64_t value) {
  if (number == CsrNumber::mcycle) {
    cycle_offset_ = value - port_.cycle();
  } else if (number == CsrNumber::minstret) {
    instret_offset_ = value - instructions;
  } else if (!csr_.write(number, value)) {
    return false;
  }
  attention_ = interruptible();
  return true;
}

// ---- traps and interrupts

// False: the trap cannot be delivered, the hart stops for good.
template <class Port>
bool Hart<Port>::trap(uint64_t cause, uint64_t tval, bool interrupt) {
  const uint64_t handler = csr_.handler(cause, interrupt);
  const bool endless = !interrupt && (pc == handler || (cause == kFetchFault && handling_));
  if (handler < kRamBase || !port_.mapped(handler, 4) || endless) {
    fatal = {interrupt ? cause | kInterruptBit : cause, tval, pc};
    return stop(Stop::fatal);
  }
  spin_.effect();
  csr_.enter(pc, cause, tval, interrupt);
  pc = handler;
  handling_ = true;
  attention_ = false;
  port_.trapped(cause, interrupt);
  if (!interrupt) clock += cost.instruction;
  return true;
}

template <class Port>
void Hart<Port>::leave_trap() {
  spin_.effect();
  retire(0, cost.instruction);
  pc = csr_.leave();
  handling_ = false;
  attention_ = interruptible();
  port_.returned();
}

template <class Port>
bool Hart<Port>::interrupted() {
  return trap(csr_.highest(), 0, true);
}

template <class Port>
void Hart<Port>::interrupt(unsigned bit, bool level) {
  const uint64_t mask = uint64_t{1} << bit;
  csr_.mip = level ? csr_.mip | mask : csr_.mip & ~mask;
  attention_ = interruptible();
}

// Retires before it sleeps, so that an interrupt that ends the sleep returns behind it.
template <class Port>
bool Hart<Port>::wfi() {
  spin_.effect();
  retire(4, cost.instruction);
  waiting_ = !wakes();
  return waiting_ ? stop(Stop::wfi) : true;
}

template <class Port>
bool Hart<Port>::illegal() {
  uint32_t word = 0;
  port_.fetch(pc, word);
  return trap(kIllegalInstruction, (word & 3) == 3 ? word : word & 0xffff);
}

// A breakpoint, unless it stands between the two marks of a semihosting call.
template <class Port>
bool Hart<Port>::ebreak(const Instruction& in) {
  constexpr uint32_t kBefore = 0x01f01013, kAfter = 0x40705013;  // slli, srai of x0
  uint32_t before = 0, after = 0;
  if (in.length == 4 && port_.fetch(pc - 4, before) && before == kBefore &&
      port_.fetch(pc + 4, after) && after == kAfter) {
    spin_.effect();
    retire(in.length, cost.instruction);
    return stop(Stop::semihost);
  }
  return trap(kBreakpoint, 0);
}

}  // namespace uncore
