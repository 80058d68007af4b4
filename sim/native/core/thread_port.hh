// The part of a thread's port that is inlined into the interpreter. Included only where harts run.
#pragma once

#include <utility>

#include "core/core.hh"

namespace uncore {

// The next functions are inlined by force: with two copies of the interpreter gcc would call them.
// `size_of` gives an address's line number and offset. `many` chooses the large table of recent
// lines. `seen(line)` returns false if the attribution needs the slow path for this access.
template <bool many, class Size, class Seen>
[[gnu::always_inline]] inline bool load_from(Thread& t, const Size& size_of, uint64_t address,
                                             unsigned size, Time& now, uint64_t& value, Seen seen) {
  const uint64_t number = size_of.number(address);
  Line* line = t.core.lines.recent<many>(number);
  if (!line || !t.buffer.empty() || t.heeds.any()) [[unlikely]]
    return false;
  if (!seen(number)) return false;
  LoadsAhead::loaded(t, number);
  t.core.lines.touch(*line, now, t.index + 1);
  now += t.core.spec.l1_hit;
  value = line->data().read(size_of.offset(address), size);
  return true;
}

template <bool many, class Size, class Seen>
[[gnu::always_inline]] inline bool store_to(Thread& t, const Size& size_of, uint64_t address,
                                            unsigned size, uint64_t value, Time now, Seen seen) {
  const uint64_t number = size_of.number(address);
  Line* line = t.core.lines.recent<many>(number);
  if (!line || !t.buffer.empty() || !line->plain()) [[unlikely]]
    return false;
  if (!seen(number)) return false;
  t.core.lines.touch(*line, now, t.index + 1);
  t.core.writes_plain(*line, t);
  line->data().write(size_of.offset(address), size, value);
  t.stored = true;
  return true;
}

// Performs an LR of a recent line. It has a fast path because a hart that waits by compare-and-swap
// executes several LRs per handoff.
template <bool many, class Size>
[[gnu::always_inline]] inline bool reserve_on(Thread& t, const Size& size_of, uint64_t address,
                                              unsigned size, Time& now, uint64_t& value) {
  Line* line = t.core.lines.recent<many>(size_of.number(address));
  if (!line || !t.buffer.empty() || !line->plain_to_reserve()) return false;
  if (!t.core.locks.reserve_at_once(t, *line, now)) return false;
  t.core.lines.touch(*line, now, t.index + 1);
  now += t.core.spec.atomic;
  t.stored = false;
  value = line->data().read(size_of.offset(address), size);
  return true;
}

// `seen` of accesses that nobody observes.
constexpr auto kUnseen = [](uint64_t) { return true; };

// The small table, for lines of 64 bytes, is probed first. Wide lines, and those of an observed
// run, are looked for second, in the large table, so that other runs pay nothing for them.
template <bool kernel>
[[gnu::always_inline]] inline bool Thread::hits(uint64_t address, unsigned size, Time& now,
                                                uint64_t& value, const Instruction& in) {
  const LineSize& wide = core.lines.size;
  if constexpr (kernel) return load_from<true>(*this, wide, address, size, now, value, kUnseen);
  if (load_from<false>(*this, UnitLines{}, address, size, now, value, kUnseen)) return true;
  if (!core.lines.second()) return false;
  Time then = now;  // a copy: the interpreter's own is to stay in a register
  uint64_t read = 0;
  if (!hits_second(address, size, then, read, in)) return false;
  now = then, value = read;
  return true;
}

template <bool kernel>
[[gnu::always_inline]] inline bool Thread::stores(uint64_t address, unsigned size, uint64_t value,
                                                  Time now, const Instruction& in) {
  const LineSize& wide = core.lines.size;
  if constexpr (kernel) return store_to<true>(*this, wide, address, size, value, now, kUnseen);
  if (store_to<false>(*this, UnitLines{}, address, size, value, now, kUnseen)) return true;
  return core.lines.second() && stores_second(address, size, value, now, in);
}

template <bool kernel>
[[gnu::always_inline]] inline bool Thread::reserves(uint64_t address, unsigned size, Time& now,
                                                    uint64_t& value) {
  if constexpr (kernel) return reserve_on<true>(*this, core.lines.size, address, size, now, value);
  if (reserve_on<false>(*this, UnitLines{}, address, size, now, value)) return true;
  if (!core.lines.second()) return false;
  Time then = now;
  uint64_t read = 0;
  if (!reserves_second(address, size, then, read)) return false;
  now = then, value = read;
  return true;
}

// Ends the lock of the hart's LR, if there is one. Returns false, with nothing done, if somebody
// waits for the end of the lock.
inline bool Thread::gives_up(Time now) {
  return reservation.locked == kNoLine || core.locks.unlock_unnoticed(*this, now);
}

inline Time Thread::pass_fence(unsigned predecessor, unsigned successor) {
  const bool full = orders_write_before_read(predecessor, successor);
  return full && std::exchange(stored, false) ? core.spec.fence : 0;
}

inline Answer Thread::fence(unsigned predecessor, unsigned successor) {
  if (!core.around.job.fences) return Answer::now;
  if (passes(predecessor, successor)) {
    hart.clock += pass_fence(predecessor, successor);
    return Answer::now;
  }
  Outcome out;
  const auto sets = static_cast<uint8_t>(predecessor << 4 | successor);
  return issue({.kind = Access::Kind::fence, .order = sets}, out);
}

inline bool Thread::confined() const { return core.confined; }

inline Answer Thread::issue(Access&& access, Outcome& outcome) {
  access.address = core.around.map.place(access.address);
  access.line = core.lines.size.number(access.address);
  if (confined() && !core.lsu.stays_inside(*this, access, hart.clock)) [[unlikely]]
    return Answer::retry;
  if (access.kind == Access::Kind::store || access.is_atomic()) stored = !access.is_atomic();
  if (core.lsu.perform(*this, access, hart.clock, outcome)) {
    hart.clock += outcome.cost;
    return Answer::now;
  }
  pending = access;
  const bool asks_ahead = core.spec.window > 0 && access.kind == Access::Kind::load;
  if (asks_ahead && !in_kernel && !hart.translation) core.lsu.pre_execute(*this);
  return Answer::later;
}

// Counts a timer interrupt that a read of stopi names, unless its own trap has counted it: a kernel
// may serve it within the trap of another interrupt.
inline void Thread::told(uint64_t cause) {
  if ((cause | 2) != kTimer) return;
  taken.timer += !taken.timer_counted;
  taken.timer_counted = false;
}

inline bool Thread::mapped(uint64_t address, unsigned size) const {
  const LineSize& lines = core.lines.size;
  const uint64_t number = lines.number(address);
  if (core.observed && core.lines.recent<true>(number) &&
      lines.number(address + size - 1) == number)
    return true;  // the fast path would take it without asking
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

inline void Thread::marker(unsigned code, uint64_t value) {
  if (late && begins(code)) hart.clock += std::exchange(late, 0);
  if (core.around.supervisor) core.around.supervisor->marked(*this, code, value);
  if (core.observed) core.observed.marked(*this, code, value);
  Services& services = core.around.services;
  const auto delay = confined() ? services.keep(id, code, value, hart.clock)
                                : services.mark(id, code, value, hart.clock);
  if (!delay) return;
  hart.clock += *delay;
  delayed_until = hart.clock + hart.cost.instruction;  // the marker itself is yet to retire
}

inline void Thread::gave_up() { core.locks.unlock(*this, hart.clock); }

inline void Thread::trapped(uint64_t cause, bool interrupt) {
  taken.now = interrupt;
  if (interrupt) took(cause | 2);  // a supervisor's interrupt counts as the machine's
  core.locks.end_attempt(*this, hart.clock);
  if (!interrupt) return;
  if (weak) weak->interrupted(hart.clock);
  hart.clock += core.turns.shared(*this, core.around.machine.interrupt.entry);
}

inline void Thread::took(uint64_t cause) {
  taken.software += cause == kSoftware;
  taken.timer_counted = cause == kTimer;
  taken.timer += taken.timer_counted;
  if (core.observed) core.observed.is(*this, Trace::What::traps, hart.clock);
}

inline void Thread::returned() {
  if (!std::exchange(taken.now, false)) return;
  if (core.observed) core.observed.is(*this, Trace::What::returns, hart.clock);
  hart.clock += core.turns.shared(*this, core.around.machine.interrupt.exit);
}

}  // namespace uncore
