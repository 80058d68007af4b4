// What the guest says to the world beside memory: semihosting, markers, the end of its run.
#include <algorithm>
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
  if (call.exit_code) end_by(thread, End::Cause::exited, static_cast<int>(*call.exit_code), "");
}

void Engine::end_by(Thread& thread, End::Cause cause, int code, std::string reason) {
  thread.mode = Thread::Mode::stopped;
  const uint64_t position = thread.core.agent * threads_per_core() + thread.index;
  ending.declare({cause, code, std::move(reason), thread.hart.clock, position});
  thread.core.shorten(ending.time());
}

void Engine::fatal(Thread& t) {
  end_by(t, End::Cause::fatal, 0, without_handler(t.id, t.hart.fatal));
}

void Engine::overflow(Thread& t) {
  end_by(t, End::Cause::fatal, 0, stack_overflow(t.id, job.stack_stride - job.stack_guard));
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
