// How a hart executes: the interpreter loop, and one member function for each kind of instruction
// that is more than a value: jumps here, accesses in accesses.hh, CSRs and traps in trap.hh. Part
// of hart.hh; the meanings of the ALU come from instructions.def.
//
// Every function that executes an instruction either retires it (once), enters a trap, or leaves
// the hart as it was and stops.
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

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
constexpr uint64_t bit(uint64_t number) { return uint64_t{1} << (number & 63); }

// Each byte all ones, if any bit of it is one.
constexpr uint64_t whole_bytes(uint64_t v) {
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  const uint64_t any = (((v & kLow) + kLow) | v) & ~kLow;  // the top bit of those bytes
  return (any - (any >> 7)) | any;
}
constexpr uint64_t reversed(uint64_t v) {
  v = (v & 0x00ff00ff00ff00ff) << 8 | (v >> 8 & 0x00ff00ff00ff00ff);
  v = (v & 0x0000ffff0000ffff) << 16 | (v >> 16 & 0x0000ffff0000ffff);
  return v << 32 | v >> 32;
}

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
[[gnu::always_inline]] inline Stop Hart<Port>::run() {
  static_assert(HartPort<Port>);
  Instruction* at = nullptr;
  return run_from(at, undisturbed);
}

// `at`: the instruction at pc, or null where its caller does not know it. Where the hart stops at
// its horizon, it is the one that comes next, and good for the next call if nothing has happened to
// the hart meanwhile. `whole`: see Hart::undisturbed.
template <class Port>
[[gnu::always_inline]] inline Stop Hart<Port>::run_from(Instruction*& at, bool whole) {
  if (!at) {
    if (suspended_) return Stop::later;
    if (waiting_ && !wakes()) return Stop::wfi;
    waiting_ = false;
  }
  if (!whole) spin_.disturb();
  for (;; at = nullptr) {
    if (!at) {
      if (mmu_) [[unlikely]]
        return run_translated();
      if (clock > horizon) return Stop::horizon;
    }
    if (attention_) [[unlikely]] {
      if (!interrupted()) return stop_;
      at = nullptr;
    }
    if (!at) at = code_.find(pc);
    if (!(at ? straight<false>(at) : outside())) return stop_;
  }
}

#define ALU(name, match, mask, format, value)                           \
  case Op::name: {                                                      \
    [[maybe_unused]] const uint64_t a = x[in.rs1], b = x[in.rs2];       \
    [[maybe_unused]] const int64_t imm = in.imm;                        \
    [[maybe_unused]] const uint64_t pc = this->pc + between(first, at); \
    x[in.rd] = value;                                                   \
    break;                                                              \
  }
#define BRANCH(name, match, mask, condition)                         \
  case Op::name: {                                                   \
    const uint64_t a = x[in.rs1], b = x[in.rs2];                     \
    const bool taken = condition;                                    \
    const uint64_t target = pc + between(first, at) + u(in.imm);     \
    Instruction* const to = taken ? find<translated>(target) : next; \
    if (taken && (alone || !goes_on(in, to, target, now))) {         \
      account(between(first, at), now, done);                        \
      return branch(in, true);                                       \
    }                                                                \
    now += predict(in, pc + between(first, at), taken);              \
    if (taken) next = first = to, pc = target;                       \
    break;                                                           \
  }
#define LOAD(name, match, mask, type)           \
  case Op::name:                                \
    if (hits<type, translated>(in, now)) break; \
    account(between(first, at), now, done);     \
    return load<type>(in);
#define STORE(name, match, mask, type)            \
  case Op::name:                                  \
    if (stores<type, translated>(in, now)) break; \
    account(between(first, at), now, done);       \
    return store<type>(in);
#define AMO(name, funct5, operation)
#define LR(name, match, mask)                 \
  case Op::name:                              \
    if (reserves<translated>(in, now)) break; \
    account(between(first, at), now, done);   \
    return load_reserved(in);
#define PAUSE(name, match, mask) \
  case Op::name:                 \
    ++pauses;                    \
    now += cost.pause - each;    \
    break;
#define FENCE(name, match, mask)            \
  case Op::name:                            \
    if (passes(in)) break;                  \
    account(between(first, at), now, done); \
    return fence(in);
#define JUMP(name, match, mask, format, where)                                       \
  case Op::name: {                                                                   \
    [[maybe_unused]] const uint64_t a = x[in.rs1];                                   \
    [[maybe_unused]] const int64_t imm = in.imm;                                     \
    const uint64_t here = pc + between(first, at), target = where;                   \
    Instruction* const to = find<translated>(target);                                \
    if (alone || !to || (target <= here && spin_enabled && !spin_.passes(target))) { \
      account(between(first, at), now, done);                                        \
      return jump(in, target);                                                       \
    }                                                                                \
    x[in.rd] = here + in.length;                                                     \
    next = first = to, pc = target;                                                  \
    break;                                                                           \
  }
#define CALL(name, match, mask, format, call)      \
  case Op::name: {                                 \
    account(between(first, at), now, done);        \
    [[maybe_unused]] const uint64_t a = x[in.rs1]; \
    [[maybe_unused]] const int64_t imm = in.imm;   \
    return call;                                   \
  }

// What computes, accesses that hit, branches, jumps, pauses and fences that nothing waits for
// follow each other with place and time at hand, and with one check of the horizon each: nothing
// else can concern the hart meanwhile. Whatever else comes ends the line, and so does a taken
// branch that stands alone.
template <class Port>
template <bool translated>
[[gnu::always_inline]] inline bool Hart<Port>::straight(Instruction*& at, bool alone) {
  using namespace meaning;
  Instruction* first = at;
  const uint64_t each = cost.instruction, last = horizon;
  uint64_t now = clock, done = 0;
  for (;;) {
    Instruction& in = *at;
    Instruction* next = following(at);
    switch (in.op) {
      case Op::undecoded:  // where the line begins it is decoded, and executed in the next turn
        account(between(first, at), now, done);
        return at != first || translated || decode_at(pc, in) || trap(kFetchFault, pc);
      case Op::illegal:
        account(between(first, at), now, done);
        return illegal();
      case Op::amo:
        account(between(first, at), now, done);
        return atomic(in);
      case Op::floating:
        account(between(first, at), now, done);
        return floating(in);
#include "hart/instructions.def"
      default:
        __builtin_unreachable();  // decode() makes no other
    }
    at = next;
    now += each;
    ++done;
    if (now > last) [[unlikely]] {
      account(between(first, at), now, done);
      return stop(Stop::horizon);
    }
  }
}

template <class Port>
template <bool translated>
[[gnu::always_inline]] inline Instruction* Hart<Port>::find(uint64_t at) const {
  if constexpr (translated) return mmu_->find(at);
  return code_.find(at);
}

// Code outside the decoded range stands alone.
template <class Port>
[[gnu::noinline]] bool Hart<Port>::outside() {
  Instruction* at = outside_;
  *at = {};
  decode_at(pc, *at);
  return straight<false>(at, true);
}

template <class Port>
[[gnu::noinline]] Stop Hart<Port>::run_viewed(Views& views) {
  if (suspended_) return Stop::later;
  if (waiting_ && !wakes()) return Stop::wfi;
  waiting_ = false;
  if (!undisturbed) spin_.disturb();
  views.resumes();
  for (;;) {
    if (clock > horizon) return Stop::horizon;
    if (attention_ && !interrupted()) return stop_;
    Instruction* const known = code_.find(pc);
    if (!known) outside_[0] = {};
    Instruction& in = known ? *known : outside_[0];
    if (in.op == Op::undecoded && !decode_at(pc, in) && !trap(kFetchFault, pc)) return stop_;
    if (in.op == Op::undecoded) continue;
    const Instruction executed = outside_[0] = in;  // one at a time; it may forget its code
    const uint64_t retired = instructions;
    views.begins(executed, halfway());
    Instruction* alone = outside_;
    const bool goes_on = straight<false>(alone, true);
    if (suspended_ && (!landing_.first || halfway())) views.suspends(executed);
    if (instructions != retired) views.ends(executed);
    if (!goes_on) return stop_;
  }
}

template <class Port>
bool Hart<Port>::decode_at(uint64_t address, Instruction& in) {
  uint32_t word;
  if (!port_.fetch(address, word)) return false;
  in = decode(word);
  if (&in != outside_) code_.decoded(&in);
  return true;
}

template <class Port>
bool Hart<Port>::marker(const Instruction& in) {
  spin_.effect();
  port_.marker(in.imm & 0xfff, x[in.rs1]);
  retire(in.length, cost.instruction);
  return true;
}

template <class Port>
bool Hart<Port>::fence_i(const Instruction& in) {
  spin_.effect();
  retire(in.length, cost.instruction);
  code_.drop();
  if (mmu_) forget_code();
  port_.fence_i();
  return true;
}

// ---- control flow

// Is all that a taken branch does that it leads elsewhere?
template <class Port>
[[gnu::always_inline]] inline bool Hart<Port>::goes_on(const Instruction& in, const Instruction* to,
                                                       uint64_t target, uint64_t now) {
  if (!to || (attempting_ && !gives_up(now))) return false;
  return in.imm > 0 || !spin_enabled || spin_.passes(target);
}

// A branch taken between an LR and its SC, where its port has nothing else to do then.
template <class Port>
[[gnu::noinline]] bool Hart<Port>::gives_up(uint64_t now) {
  if constexpr (requires(Port& p) { p.gives_up(now); })
    if (port_.gives_up(now)) attempting_ = false;
  return !attempting_;
}

// A branch: what it costs beyond the instruction.
template <class Port>
[[gnu::always_inline]] inline uint64_t Hart<Port>::predict(const Instruction& in, uint64_t at,
                                                           bool taken) {
  const bool wrong = predictor_.wrong(at, in.imm <= 0, taken);
  ++branches;
  mispredicts += wrong;
  return wrong ? cost.mispredict : 0;
}

template <class Port>
bool Hart<Port>::branch(const Instruction& in, bool taken) {
  const bool backward = in.imm <= 0;
  if (taken && attempting_) [[unlikely]] {
    attempting_ = false;
    port_.gave_up();
  }
  retire(0, cost.instruction + predict(in, pc, taken));
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

// Down, it stays within the hart's own stack however large the step, so that no frame, of whatever
// size, lies in memory that is not the stack's. On another stack, whose end nobody has told, a step
// larger than a whole stack must be wrong, too.
template <class Port>
bool Hart<Port>::move_stack(const Instruction& in, uint64_t from, uint64_t to) {
  if (to < from && stack.entered) {
    const bool own = from - stack.end <= stack.size;
    if (own ? to < stack.end : from - to > stack.size) [[unlikely]]
      return stop(Stop::overflow);
  }
  if (stack.size && to == stack.end + stack.size) stack.entered = true;
  x[in.rd] = to;
  retire(in.length, cost.instruction);
  return true;
}

// At the target of a taken backward branch or jump.
template <class Port>
bool Hart<Port>::arrived(const Instruction& by) {
  if (!spin_enabled) return true;
  SpinDetector::Watch watch{};
  if constexpr (requires(const Port& p) { p.watches(); }) watch = port_.watches();
  if (!spin_.arrive(pc, x, predictor_, by, meter(), watch)) return true;
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

}  // namespace uncore
