// The part of a thread's port that is inlined into the interpreter. Included only where harts run.
#pragma once

#include <utility>

#include "core/core.hh"
#include "spec/core_spec.hh"

namespace uncore {

// The next functions are always_inline: because there are two copies of the interpreter, gcc would
// not inline them by itself. `size_of` gives an address's line number and offset. `large` chooses
// the large table of recent lines. `report(line)` returns false if the attribution needs the slow
// path for this access.
template <bool large, class Size, class Report>
[[gnu::always_inline]] inline bool fast_load(Thread& t, const Size& size_of, uint64_t address,
                                             unsigned size, Time& now, uint64_t& value,
                                             Report report) {
  const uint64_t number = size_of.number(address);
  Line* line = t.core.lines.recent<large>(number);
  if (!line || !t.buffer.empty() || t.slow_path.any()) [[unlikely]]
    return false;
  if (!report(number)) return false;
  LoadsAhead::note_load(t, number);
  t.core.lines.touch(*line, now, t.index + 1);
  now += t.core.spec.l1_hit;
  value = line->data().read(size_of.offset(address), size);
  return true;
}

template <bool large, class Size, class Report>
[[gnu::always_inline]] inline bool fast_store(Thread& t, const Size& size_of, uint64_t address,
                                              unsigned size, uint64_t value, Time now,
                                              Report report) {
  const uint64_t number = size_of.number(address);
  Line* line = t.core.lines.recent<large>(number);
  if (!line || !t.buffer.empty() || !line->plain()) [[unlikely]]
    return false;
  if (!report(number)) return false;
  t.core.lines.touch(*line, now, t.index + 1);
  t.core.before_write_to_plain(*line, t);
  line->data().write(size_of.offset(address), size, value);
  t.stored = true;
  return true;
}

// Performs an LR of a recent line. It has a fast path because a hart that waits by compare-and-swap
// executes several LRs per handoff.
template <bool large, class Size>
[[gnu::always_inline]] inline bool fast_reserve(Thread& t, const Size& size_of, uint64_t address,
                                                unsigned size, Time& now, uint64_t& value) {
  Line* line = t.core.lines.recent<large>(size_of.number(address));
  if (!line || !t.buffer.empty() || !line->plain_to_reserve()) return false;
  if (!t.core.locks.try_reserve_at_once(t, *line, now)) return false;
  t.core.lines.touch(*line, now, t.index + 1);
  now += t.core.spec.atomic;
  t.stored = false;
  value = line->data().read(size_of.offset(address), size);
  return true;
}

// The `report` of runs that are not observed: the fast path may perform every access.
constexpr auto kUnobserved = [](uint64_t) { return true; };

// Searches the small table first, which is for lines of 64 bytes. Wide lines, and lines of an
// observed run, are only in the large table, which is searched second. So ordinary runs do not pay
// for it.
template <bool kernel>
[[gnu::always_inline]] inline bool Thread::try_load(uint64_t address, unsigned size, Time& now,
                                                    uint64_t& value, const Instruction& in) {
  const LineSize& line_size = core.lines.size;
  if constexpr (kernel)
    return fast_load<true>(*this, line_size, address, size, now, value, kUnobserved);
  if (fast_load<false>(*this, UnitLines{}, address, size, now, value, kUnobserved)) return true;
  if (!core.lines.uses_large_table_too()) return false;
  Time then = now;  // a copy, so that the interpreter's `now` can stay in a register
  uint64_t read = 0;
  if (!try_load_large(address, size, then, read, in)) return false;
  now = then, value = read;
  return true;
}

template <bool kernel>
[[gnu::always_inline]] inline bool Thread::try_store(uint64_t address, unsigned size,
                                                     uint64_t value, Time now,
                                                     const Instruction& in) {
  const LineSize& line_size = core.lines.size;
  if constexpr (kernel)
    return fast_store<true>(*this, line_size, address, size, value, now, kUnobserved);
  if (fast_store<false>(*this, UnitLines{}, address, size, value, now, kUnobserved)) return true;
  return core.lines.uses_large_table_too() && try_store_large(address, size, value, now, in);
}

template <bool kernel>
[[gnu::always_inline]] inline bool Thread::try_reserve(uint64_t address, unsigned size, Time& now,
                                                       uint64_t& value) {
  if constexpr (kernel)
    return fast_reserve<true>(*this, core.lines.size, address, size, now, value);
  if (fast_reserve<false>(*this, UnitLines{}, address, size, now, value)) return true;
  if (!core.lines.uses_large_table_too()) return false;
  Time then = now;
  uint64_t read = 0;
  if (!try_reserve_large(address, size, then, read)) return false;
  now = then, value = read;
  return true;
}

// Ends the lock that the hart's LR holds, if any. Returns false without any effect if a probe or
// another hart waits for the end of the lock.
inline bool Thread::try_end_lock(Time now) {
  return reservation.locked == kNoLine || core.locks.try_unlock_unnoticed(*this, now);
}

inline Time Thread::pass_fence(unsigned predecessor, unsigned successor) {
  const bool full = orders_write_before_read(predecessor, successor);
  return full && std::exchange(stored, false) ? core.spec.fence : 0;
}

inline Answer Thread::fence(unsigned predecessor, unsigned successor) {
  if (!core.context.job.fences) return Answer::now;
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
  access.address = core.context.map.place(access.address);
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

// Counts a timer interrupt that a read of stopi reports, unless it was counted at its trap. A
// kernel may handle it within the trap of another interrupt.
inline void Thread::stopi_read(uint64_t cause) {
  if ((cause | 2) != kTimer) return;
  taken.timer += !taken.timer_counted;
  taken.timer_counted = false;
}

inline bool Thread::mapped(uint64_t address, unsigned size) const {
  const LineSize& lines = core.lines.size;
  const uint64_t number = lines.number(address);
  if (core.observed && core.lines.recent<true>(number) &&
      lines.number(address + size - 1) == number)
    return true;  // the fast path performs such an access without calling this function
  if (core.context.supervisor) return core.context.supervisor->mapped(address, size);
  return core.context.memory.mapped(address, size);
}

inline bool Thread::fetch(uint64_t address, uint32_t& word) {
  if (!core.context.supervisor) return core.context.memory.fetch(address, word);
  if (!mapped(address, 2)) return false;
  word = 0;
  const std::size_t size = mapped(address + 2, 2) ? 4 : 2;
  core.context.memory.read(address, size, reinterpret_cast<uint8_t*>(&word));
  return true;
}

inline void Thread::marker(unsigned code, uint64_t value) {
  if (start_delay && begins(code)) hart.clock += std::exchange(start_delay, 0);
  if (core.context.supervisor) core.context.supervisor->marked(*this, code, value);
  if (core.observed) core.observed.marked(*this, code, value);
  Services& services = core.context.services;
  const auto delay = confined() ? services.keep(id, code, value, hart.clock)
                                : services.mark(id, code, value, hart.clock);
  if (!delay) return;
  hart.clock += *delay;
  // The marker instruction itself has not retired yet.
  delayed_until = hart.clock + hart.cost.instruction;
}

inline void Thread::gave_up_attempt() { core.locks.unlock(*this, hart.clock); }

inline void Thread::trapped(uint64_t cause, bool interrupt) {
  taken.in_interrupt = interrupt;
  if (interrupt) count_interrupt(cause | 2);  // bit 1 turns a supervisor's cause into the machine's
  core.locks.end_attempt(*this, hart.clock);
  if (!interrupt) return;
  if (weak) weak->sees_all(hart.clock);
  hart.clock += core.turns.time_when_shared(*this, core.context.machine.interrupt.entry);
}

inline void Thread::count_interrupt(uint64_t cause) {
  taken.software += cause == kSoftware;
  taken.timer_counted = cause == kTimer;
  taken.timer += taken.timer_counted;
  if (core.observed) core.observed.record(*this, Trace::What::traps, hart.clock);
}

inline void Thread::returned() {
  if (!std::exchange(taken.in_interrupt, false)) return;
  if (core.observed) core.observed.record(*this, Trace::What::returns, hart.clock);
  hart.clock += core.turns.time_when_shared(*this, core.context.machine.interrupt.exit);
}

}  // namespace uncore
