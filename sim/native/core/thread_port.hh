// The port of a thread, as the interpreter inlines it: included where harts run, nowhere else.
#pragma once

#include <algorithm>
#include <utility>

#include "core/core.hh"

namespace uncore {

// What follows stands in every copy of the interpreter: gcc would call it, once there are two.
template <bool kernel>
[[gnu::always_inline]] inline bool Thread::hits(uint64_t address, unsigned size, Time& now,
                                                uint64_t& value) {
  const uint64_t number = address >> kLineShift;
  Line* line = core.lines.recent<kernel>(number);
  if (!line || !buffer.empty() || heeds.any()) [[unlikely]]
    return false;
  if (!core.around.protocol.may_load(line->copy.state)) return false;
  looked = number;
  core.lines.touch(*line, now, index + 1);
  now += core.spec.l1_hit;
  value = line->data.read(address % kLineBytes, size);
  return true;
}

// Where nobody sleeps on the line, for a sleeper that wakes may have the next turn.
template <bool kernel>
[[gnu::always_inline]] inline bool Thread::stores(uint64_t address, unsigned size, uint64_t value,
                                                  Time now) {
  Line* line = core.lines.recent<kernel>(address >> kLineShift);
  if (!line || !buffer.empty() || line->watchers) [[unlikely]]
    return false;
  if (!core.around.protocol.may_store(line->copy.state) || line->contended) return false;
  core.lines.touch(*line, now, index + 1);
  line->copy.state = core.around.protocol.client(line->copy.state, ClientEvent::Store).next();
  core.written_awake(*line, *this);
  line->data.write(address % kLineBytes, size, value);
  return true;
}

// An LR of a line at hand: who waits by compare-and-swap executes several a handoff.
template <bool kernel>
[[gnu::always_inline]] inline bool Thread::reserves(uint64_t address, unsigned size, Time& now,
                                                    uint64_t& value) {
  Line* line = core.lines.recent<kernel>(address >> kLineShift);
  if (!line || !buffer.empty() || !core.reserves(*this, *line, now)) return false;
  now += core.spec.atomic;
  value = line->data.read(address % kLineBytes, size);
  return true;
}

// False: somebody waits for the end of its lock.
inline bool Thread::gives_up(Time now) {
  return locked == kNoLine || core.unlocks_alone(*this, now);
}

inline Answer Thread::fence(unsigned predecessor, unsigned successor) {
  if (!core.around.job.fences || passes(predecessor, successor)) return Answer::now;
  Outcome out;
  const auto sets = static_cast<uint8_t>(predecessor << 4 | successor);
  return issue({.kind = Access::Kind::fence, .order = sets}, out);
}

inline Answer Thread::issue(Access&& access, Outcome& outcome) {
  access.address = core.around.map.place(access.address);
  if (core.perform(*this, access, hart.clock, outcome)) {
    hart.clock += outcome.cost;
    return Answer::now;
  }
  pending = access;
  return Answer::later;
}

inline Answer Thread::mmio(uint64_t address, unsigned, bool write, uint64_t& value) {
  return access_device(*this, address, write, value);
}

inline std::optional<Register> Thread::register_of(uint64_t address) const {
  const auto found = core.around.interrupts.register_of(address);
  return found && found->kind == Register::Kind::order ? std::nullopt : found;
}

inline bool Thread::at_hand(Register r) const {
  return core.around.interrupts.at_hand(r, core.agent);
}

inline uint64_t Thread::read_register(Register r) {
  return core.around.interrupts.read(r, id, hart.clock);
}

inline void Thread::write_register(Register r, uint64_t value) {
  if (const auto pending = core.around.interrupts.write(r, value, id, hart.clock))
    return core.interrupt(*pending, hart.clock);
  if (r.interrupts_others()) core.turns.shorten(hart.clock);  // by a message, maybe to this core
}

inline void Thread::say(char letter) { core.around.services.console.say(id, {&letter, 1}); }

inline bool Thread::get_external(unsigned csr, uint64_t& value) {
  return core.around.interrupts.get_external(id, csr, value);
}

inline bool Thread::set_external(unsigned csr, uint64_t value) {
  const auto pending = core.around.interrupts.set_external(id, csr, value);
  if (pending) core.interrupt(*pending, hart.clock);
  return pending.has_value();
}

// By stopi, of what it takes next: a kernel may take a timer's in the trap of another.
inline void Thread::told(uint64_t cause) {
  if ((cause | 2) != kTimer) return;
  by_timer += !timer_told;
  timer_told = false;
}

inline bool Thread::mapped(uint64_t address, unsigned size) const {
  if (core.around.supervisor) return core.around.supervisor->mapped(address, size);
  return core.around.memory.mapped(address, size);
}

inline bool Thread::fetch(uint64_t address, uint32_t& word) {
  if (!core.around.supervisor) return core.around.memory.fetch(address, word);
  if (!mapped(address, 2)) return false;
  word = 0;
  const std::size_t size = mapped(address + 2, 2) ? 4 : 2;
  core.around.memory.read(address, size, reinterpret_cast<uint8_t*>(&word));
  return true;
}

inline uint64_t Thread::cycle() { return hart.clock / std::max<Time>(1, core.spec.instruction); }

inline void Thread::marker(unsigned code, uint64_t value) {
  if (late && begins(code)) hart.clock += std::exchange(late, 0);
  if (core.around.supervisor) core.around.supervisor->marked(*this, code, value);
  if (core.observed) core.observed.marked(*this, code, value);
  const auto delay = core.around.services.mark(id, code, value, hart.clock);
  if (!delay) return;
  hart.clock += *delay;
  delayed_until = hart.clock + hart.cost.instruction;  // it retires yet
}

inline void Thread::gave_up() { core.unlock(*this, hart.clock); }

inline void Thread::trapped(uint64_t cause, bool interrupt) {
  interrupted = interrupt;
  const uint64_t why = cause | 2;  // the machine's and the supervisor's
  by_software += interrupt && why == kSoftware;
  if (interrupt) timer_told = why == kTimer;
  by_timer += interrupt && why == kTimer;
  if (interrupt && core.observed) core.observed.is(*this, Trace::What::traps, hart.clock);
  reservation = kNoLine;
  core.unlock(*this, hart.clock);
  if (interrupt && weak) weak->interrupted(hart.clock);
  if (interrupt) hart.clock += core.turns.shared(core.around.machine.interrupt.entry);
}

inline void Thread::returned() {
  if (interrupted && core.observed) core.observed.is(*this, Trace::What::returns, hart.clock);
  if (interrupted) hart.clock += core.turns.shared(core.around.machine.interrupt.exit);
  interrupted = false;
}

}  // namespace uncore
