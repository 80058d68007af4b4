// What the guest says to the world beside memory: semihosting, markers, the end of its run.
#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/engine.hh"
#include "guest/faults.hh"
#include "guest/semihosting.hh"

namespace uncore {

void Engine::semihost(Thread& thread) {
  uint64_t* x = thread.hart.x;
  last_progress_ = now_;
  Semihosting call(x[10], x[11]);
  while (call.reads()) {
    uint64_t doubleword = 0;
    read(call.address(), sizeof doubleword, reinterpret_cast<uint8_t*>(&doubleword));
    call.take(doubleword);
  }
  console.say(thread.id, call.text);
  x[10] = call.answer;
  if (call.exit_code) end_by(thread, {End::exited, static_cast<int>(*call.exit_code), ""});
}

// A run ends when its end could have reached every core (rule T4): none has run further. Harts run
// ahead of each other, so the first to ask here need not be the first in time.
void Engine::end_by(Thread& thread, Ending ending) {
  thread.mode = Thread::Mode::stopped;
  ending.at = thread.hart.clock;
  ending.hart = thread.core.agent * threads_per_core() + thread.index;
  if (std::tie(ending_.at, ending_.hart) < std::tie(ending.at, ending.hart)) return;
  ending_ = std::move(ending);
  ends_at_ = ending_.at;
  for (const auto& core : cores_) ends_at_ = std::max(ends_at_, ending_.at + core->reach);
  queue_.push(ends_at_, ~uint64_t{0}, ~uint64_t{0}, kEnd, 0);
  thread.core.shorten(ends_at_);
}

void Engine::end_run() {
  if (ending_.end == End::exited)
    for (const auto& core : cores_) core->settle(now_ + 1);
  if (attribution) {
    for (const auto& core : cores_) core->observe_end(now_);
    attribution->finish();
  }
  exit_code_ = ending_.code;
  finish(ending_.end, ending_.reason);
}

void Engine::fatal(Thread& t) { end_by(t, {End::fatal, 0, without_handler(t.id, t.hart.fatal)}); }

void Engine::overflow(Thread& t) {
  end_by(t, {End::fatal, 0, stack_overflow(t.id, job.stack_stride - job.stack_guard)});
}

void Engine::marker(Thread& thread, unsigned code, uint64_t value) {
  if (attribution) attribution->marked(thread.id, code, value);
  const Marked marked = thread.operations.mark(code, value, thread.hart.clock);
  if (marked.operations) {
    counters.operations += marked.operations;
    last_progress_ = std::max(last_progress_, now_);
  }
  if (marked.latency) latencies_.add(*marked.latency, marked.operations);
  if (marked.delay) {
    thread.hart.clock += *marked.delay * 1000;
    thread.delayed_until = thread.hart.clock + thread.hart.cost.instruction;  // it retires yet
  }
}

}  // namespace uncore
