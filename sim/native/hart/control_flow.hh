// Branches, jumps, and instructions that move the stack pointer. Backward branches and jumps are
// reported to the spin detector.
#pragma once

#include "hart/hart_class.hh"

namespace uncore::execute {

// Reports to the spin detector that the hart is at the target of a taken backward branch or jump.
// Returns false if the hart spins; then run() ends.
template <class Port>
bool arrive(Hart<Port>& h, const Instruction& by) {
  if (!h.spin_enabled) return true;
  SpinDetector::Watch watch{};
  if constexpr (requires(const Port& p) { p.watches(); }) watch = h.port.watches();
  const SpinDetector::Meter now{h.clock, h.instructions, h.branches, h.mispredicts, h.pauses};
  if (!h.spin.arrive(h.pc, h.x, h.predictor, by, now, watch)) return true;
  const SpinDetector::Meter& period = h.spin.period();
  h.spin_period = period.clock;
  h.spin_instructions = period.instructions;
  h.spin_branches = period.branches;
  h.spin_mispredicts = period.mispredicts;
  h.spin_pauses = period.pauses;
  return h.stop(Stop::spin);
}

// Ends the LR's lock, on the fast path, for a branch taken between an LR and its SC. Returns false
// if this needs the slow path.
template <class Port>
[[gnu::noinline]] bool try_end_lock(Hart<Port>& h, uint64_t now) {
  if constexpr (requires(Port& p) { p.try_end_lock(now); })
    if (h.port.try_end_lock(now)) h.attempting = false;
  return !h.attempting;
}

// Returns true if a taken branch has no effect but the change of pc.
template <class Port>
[[gnu::always_inline]] inline bool only_changes_pc(Hart<Port>& h, const Instruction& in,
                                                   const Instruction* to, uint64_t target,
                                                   uint64_t now) {
  if (!to || (h.attempting && !try_end_lock(h, now))) return false;
  return in.imm > 0 || !h.spin_enabled || h.spin.try_pass(target);
}

// Updates the predictor. Returns the time that the branch takes beyond that of an instruction.
template <class Port>
[[gnu::always_inline]] inline uint64_t predict(Hart<Port>& h, const Instruction& in, uint64_t pc,
                                               bool taken) {
  const bool mispredicted = h.predictor.learn(pc, in.imm <= 0, taken);
  ++h.branches;
  h.mispredicts += mispredicted;
  return mispredicted ? h.cost.mispredict : 0;
}

template <class Port>
bool branch(Hart<Port>& h, const Instruction& in, bool taken) {
  const bool backward = in.imm <= 0;
  if (taken && h.attempting) [[unlikely]] {
    if (is_confined(h.port)) return h.stop(Stop::retry);
    h.attempting = false;
    h.port.gave_up_attempt();
  }
  h.retire(0, h.cost.instruction + predict(h, in, h.pc, taken));
  h.pc += taken ? static_cast<uint64_t>(in.imm) : in.length;
  return !(taken && backward) || arrive(h, in);
}

template <class Port>
bool jump(Hart<Port>& h, const Instruction& in, uint64_t target) {
  const bool backward = target <= h.pc;
  h.x[in.rd] = h.pc + in.length;
  h.retire(0, h.cost.instruction);
  h.pc = target;
  return !backward || arrive(h, in);
}

// Moves the stack pointer, or stops the hart with Stop::overflow. A move down must stay within the
// hart's own stack, even if the step is large, so that no frame overlaps other memory. On another
// stack, whose end is unknown, only a step larger than a whole stack is an overflow.
template <class Port>
bool move_stack(Hart<Port>& h, const Instruction& in, uint64_t from, uint64_t to) {
  Stack& stack = h.stack;
  if (to < from && stack.entered) {
    const bool on_own_stack = from - stack.end <= stack.size;
    if (on_own_stack ? to < stack.end : from - to > stack.size) [[unlikely]]
      return h.stop(Stop::overflow);
  }
  if (stack.size && to == stack.end + stack.size) stack.entered = true;
  h.x[in.rd] = to;
  h.retire(in.length, h.cost.instruction);
  return true;
}

}  // namespace uncore::execute
