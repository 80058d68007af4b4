// The interpreter's loop, and the functions by which run() enters it. isa/ defines the
// instructions.
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

#include "hart/alu.hh"
#include "hart/atomics.hh"
#include "hart/control_flow.hh"
#include "hart/fast_paths.hh"
#include "hart/first_use.hh"
#include "hart/float_instructions.hh"
#include "hart/loads_stores.hh"
#include "hart/system_instructions.hh"
#include "hart/translated_code.hh"
#include "hart/translation.hh"
#include "hart/traps.hh"

namespace uncore {
namespace execute {

// Returns the distance, in bytes of code, between two instructions of one straight line.
inline uint64_t bytes_between(const Instruction* first, const Instruction* at) {
  return 2 * static_cast<uint64_t>(at - first);
}

template <bool translated, class Port>
[[gnu::always_inline]] inline Instruction* find(const Hart<Port>& h, uint64_t pc) {
  if constexpr (translated) return h.translation->mmu.find(pc);
  return h.code.find(pc);
}

// Decodes the instruction at an address. Returns false if there is none, or if the port is
// confined, because then nothing may be decoded. After false the caller traps, and a trap stops a
// confined hart.
template <class Port>
bool decode_at(Hart<Port>& h, uint64_t address, Instruction& in) {
  uint32_t word;
  if (is_confined(h.port) || !h.port.fetch(address, word)) return false;
  in = decode_at_place(h, address, word);
  if (&in == h.lone_code) return true;
  h.code.decoded(&in);
  if (h.code.watches(address)) in.op = Op::watched;
  return true;
}

#define ALU(name, match, mask, format, value)                             \
  case Op::name: {                                                        \
    [[maybe_unused]] const uint64_t a = x[in.rs1], b = x[in.rs2];         \
    [[maybe_unused]] const int64_t imm = in.imm;                          \
    [[maybe_unused]] const uint64_t pc = h.pc + bytes_between(first, at); \
    x[in.rd] = value;                                                     \
    break;                                                                \
  }
#define BRANCH(name, match, mask, condition)                                          \
  case Op::name: {                                                                    \
    const uint64_t a = x[in.rs1], b = x[in.rs2];                                      \
    const bool taken = condition;                                                     \
    const uint64_t here = h.pc + bytes_between(first, at), target = here + u(in.imm); \
    Instruction* const to = taken ? find<translated>(h, target) : next;               \
    if (taken && (alone || !only_changes_pc(h, in, to, target, now))) {               \
      h.account(bytes_between(first, at), now, done);                                 \
      return branch(h, in, true);                                                     \
    }                                                                                 \
    now += predict(h, in, here, taken);                                               \
    if (taken) next = first = to, h.pc = target;                                      \
    break;                                                                            \
  }
#define LOAD(name, match, mask, type)               \
  case Op::name:                                    \
    if (load_hits<type, translated>(h, in, now)) {  \
      if (h.cost.load_to_use != 0) [[unlikely]]     \
        now -= h.cost.hidden(in.size);              \
      break;                                        \
    }                                               \
    h.account(bytes_between(first, at), now, done); \
    return load<type>(h, in);
#define STORE(name, match, mask, type)                   \
  case Op::name:                                         \
    if (store_hits<type, translated>(h, in, now)) break; \
    h.account(bytes_between(first, at), now, done);      \
    return store<type>(h, in);
#define AMO(name, funct5, operation)
#define LR(name, match, mask)                       \
  case Op::name:                                    \
    if (lr_hits<translated>(h, in, now)) break;     \
    h.account(bytes_between(first, at), now, done); \
    return load_reserved(h, in);
#define PAUSE(name, match, mask)                                               \
  case Op::name:                                                               \
    ++h.pauses;                                                                \
    now += h.cost.pause - instruction_cost;                                    \
    if (h.reports_pauses && h.account_pause(now + instruction_cost)) {         \
      h.account(bytes_between(first, next), now + instruction_cost, done + 1); \
      return h.stop(Stop::pause);                                              \
    }                                                                          \
    break;
#define FENCE(name, match, mask)                    \
  case Op::name:                                    \
    if (fence_passes(h, in, now)) break;            \
    h.account(bytes_between(first, at), now, done); \
    return fence(h, in);
#define JUMP(name, match, mask, format, where)                                            \
  case Op::name: {                                                                        \
    [[maybe_unused]] const uint64_t a = x[in.rs1];                                        \
    [[maybe_unused]] const int64_t imm = in.imm;                                          \
    const uint64_t here = h.pc + bytes_between(first, at), target = where;                \
    Instruction* const to = find<translated>(h, target);                                  \
    if (alone || !to || (target <= here && h.spin_enabled && !h.spin.try_pass(target))) { \
      h.account(bytes_between(first, at), now, done);                                     \
      return jump(h, in, target);                                                         \
    }                                                                                     \
    x[in.rd] = here + in.length;                                                          \
    next = first = to, h.pc = target;                                                     \
    break;                                                                                \
  }
#define CALL(name, match, mask, format, call)       \
  case Op::name: {                                  \
    h.account(bytes_between(first, at), now, done); \
    [[maybe_unused]] const uint64_t a = x[in.rs1];  \
    [[maybe_unused]] const int64_t imm = in.imm;    \
    return call;                                    \
  }

template <class Port>
bool outside(Hart<Port>& h);

// Executes a straight line of instructions, or only the first one if `alone`. A line continues
// through computations, accesses that hit, branches, jumps, pauses, and fences with nothing to wait
// for. Nothing can affect the hart between these, so pc and clock stay in local variables, and only
// the horizon is checked after each. Any other instruction ends the line, and so does a taken
// branch if `alone`. Returns false if the hart stops.
template <bool translated, class Port>
[[gnu::always_inline]] inline bool straight(Hart<Port>& h, Instruction*& at, bool alone = false) {
  using namespace meaning;
  Instruction* first = at;
  uint64_t* const x = h.x;
  const uint64_t instruction_cost = h.cost.instruction, last = h.horizon;
  uint64_t now = h.clock, done = 0;
  for (;;) {
    Instruction& in = *at;
    Instruction* next = following(at);
    switch (in.op) {
      // An undecoded instruction ends the line. If it is the first of the line, it is decoded, and
      // the next call executes it; if `translated`, fetch() decodes it before the next call.
      case Op::undecoded:
        h.account(bytes_between(first, at), now, done);
        return at != first || translated || decode_at(h, h.pc, in) || trap(h, kFetchFault, h.pc);
      case Op::illegal:
        h.account(bytes_between(first, at), now, done);
        return trap_illegal(h);
      case Op::watched:
        h.account(bytes_between(first, at), now, done);
        if constexpr (requires(Port& port) { port.arrived(); }) h.port.arrived();
        return outside(h);
      case Op::amo:
        h.account(bytes_between(first, at), now, done);
        return atomic(h, in);
      case Op::floating:
        h.account(bytes_between(first, at), now, done);
        return floating(h, in);
#include "hart/isa/instructions.def"
      default:
        __builtin_unreachable();  // decode() returns no other Op
    }
    at = next;
    now += instruction_cost;
    ++done;
    if (now > last) [[unlikely]] {
      h.account(bytes_between(first, at), now, done);
      return h.stop(Stop::horizon);
    }
  }
}

// Executes one instruction that is outside the decoded range, or watched.
template <class Port>
[[gnu::noinline]] bool outside(Hart<Port>& h) {
  Instruction* at = h.lone_code;
  *at = {};
  decode_at(h, h.pc, *at);
  return straight<false>(h, at, true);
}

template <class Port>
[[gnu::noinline]] Stop run_translated(Hart<Port>& h) {
  for (;;) {
    if (h.clock > h.horizon) return Stop::horizon;
    if (h.attention && !take_interrupt(h)) [[unlikely]]
      return h.stopped;
    FetchResult fetched = fetch(h);
    if (!(fetched.in ? straight<true>(h, fetched.in) : fetched.goes_on)) return h.stopped;
  }
}

// Returns the decoded instruction at pc; null if there is none, so that the caller traps.
template <class Port>
Instruction* fetch_alone(Hart<Port>& h) {
  Instruction* in = h.code.find(h.pc);
  if (!in) {
    in = h.lone_code;
    *in = {};
  }
  if (in->op == Op::undecoded && !decode_at(h, h.pc, *in)) return nullptr;
  return in;
}

// Executes one instruction, and reports it to `views`.
template <class Port>
bool step_viewed(Hart<Port>& h, Views& views, const Instruction in) {
  const uint64_t retired = h.instructions;
  views.begin(in, h.halfway());
  Instruction* alone = h.lone_code;
  *alone = in;  // a copy, because the instruction may drop the decoded code
  const bool goes_on = straight<false>(h, alone, true);
  if (h.suspended() && (!h.access.landing.first || h.halfway())) views.suspend(in);
  if (h.instructions != retired) views.end(in);
  return goes_on;
}

}  // namespace execute

template <class Port>
[[gnu::always_inline]] inline Stop Hart<Port>::run() {
  static_assert(HartPort<Port>);
  Instruction* at = nullptr;
  return run_from(at, undisturbed);
}

// `at`: the instruction at pc, or null if the caller does not know it. When the hart stops at its
// horizon, `at` is set to the next instruction, or null; it may be passed to the next call if
// nothing has happened to the hart in between. `steady`: see HartState::undisturbed.
template <class Port>
[[gnu::always_inline]] inline Stop Hart<Port>::run_from(Instruction*& at, bool steady) {
  if (!at) {
    if (suspended()) return Stop::later;
    if (asleep && !wakes()) return Stop::wfi;
    asleep = false;
  }
  if (!steady) spin.disturb();
  for (;; at = nullptr) {
    if (!at) {
      if (translation) [[unlikely]]
        return execute::run_translated(*this);
      if (clock > horizon) return Stop::horizon;
    }
    if (attention) [[unlikely]] {
      at = nullptr;
      if (!execute::take_interrupt(*this)) return stopped;
    }
    if (!at) at = code.find(pc);
    if (!(at ? execute::straight<false>(*this, at) : execute::outside(*this))) return stopped;
  }
}

template <class Port>
[[gnu::noinline]] Stop Hart<Port>::run_viewed(Views& views) {
  if (suspended()) return Stop::later;
  if (asleep && !wakes()) return Stop::wfi;
  asleep = false;
  if (!undisturbed) spin.disturb();
  views.resume();
  for (;;) {
    if (clock > horizon) return Stop::horizon;
    if (attention && !execute::take_interrupt(*this)) return stopped;
    const Instruction* const in = execute::fetch_alone(*this);
    if (!in && !execute::trap(*this, kFetchFault, pc)) return stopped;
    if (in && !execute::step_viewed(*this, views, *in)) return stopped;
  }
}

template <class Port>
void Hart<Port>::skip(uint64_t n) {
  clock += n * spin_period;
  instructions += n * spin_instructions;
  branches += n * spin_branches;
  mispredicts += n * spin_mispredicts;
  pauses += n * spin_pauses;
  if (spin_pauses > 0) pauses_until += n * spin_period;
}

}  // namespace uncore
