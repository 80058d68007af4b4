#include "core/contended_lines.hh"

#include "core/core.hh"

namespace uncore {

// Each hart requests the line for its oldest store, or for the access that it waits for.
void ContendedLines::ask_in_turn(uint64_t number, uint32_t holder, Time now) {
  const Threads& threads = core_.threads;
  for (std::size_t i = 1; i <= threads.size(); ++i) {
    Thread& t = *threads[(holder + i) % threads.size()];
    if (core_.stores->may_leave_next(t, number))
      core_.stores->drain(t, now);
    else if (t.mode == Thread::Mode::waiting && t.pending.line == number)
      core_.waiting.attempt(t, now);
  }
  core_.turns.schedule_next();
}

}  // namespace uncore
