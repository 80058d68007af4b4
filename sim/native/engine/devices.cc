// What the guest says to the world beside memory: semihosting, markers, the end of its run.
#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/engine.hh"
#include "uncore_abi.h"

namespace uncore {
namespace {

// A guest that asks for more (a negative time, perhaps) must not turn the clock back: eleven days.
constexpr uint64_t kLongestDelay = 1'000'000'000'000'000;  // ns

}  // namespace

void Engine::semihost(Thread& thread) {
  constexpr uint64_t kWrite0 = 4, kGetCommandLine = 0x15, kExit = 0x18, kExitExtended = 0x20;
  uint64_t* x = thread.hart.x;
  last_progress_ = now_;
  switch (x[10]) {
    case kWrite0:
      for (uint64_t a = x[11];; ++a) {
        uint8_t c = 0;
        read(a, 1, &c);
        if (c == 0) break;
        say(thread, static_cast<char>(c));
      }
      x[10] = 0;
      break;
    case kExit:
      end_by(thread, {End::exited, 0, ""});
      break;
    case kExitExtended: {
      uint64_t block[2] = {0, 0};
      read(x[11], sizeof block, reinterpret_cast<uint8_t*>(block));
      end_by(thread, {End::exited, static_cast<int>(block[1]), ""});
      break;
    }
    case kGetCommandLine:
    default:
      x[10] = ~uint64_t{0};
  }
}

void Engine::say(const Thread& thread, char letter) {
  std::string& line = lines_[thread.id];
  line.push_back(letter);
  if (letter == '\n') console += std::exchange(line, {});
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

void Engine::fatal(Thread& t) {
  end_by(t, {End::fatal, 0,
             "hart " + std::to_string(t.id) + " trapped without a handler, cause " +
                 std::to_string(t.hart.fatal.cause)});
}

void Engine::overflow(Thread& t) {
  end_by(t, {End::fatal, 0,
             "hart " + std::to_string(t.id) + ": stack overflow, of " +
                 std::to_string(job.stack_stride - job.stack_guard) + " bytes"});
}

void Engine::marker(Thread& thread, unsigned code, uint64_t value) {
  const Time clock = thread.hart.clock;
  if (attribution) attribution->marked(thread.id, code, value);
  switch (code) {
    case UC_MARK_START:
      thread.operation_began = clock;
      thread.measuring = true;
      break;
    case UC_MARK_OP: {
      const uint64_t batch = std::max<uint64_t>(1, value);
      counters.operations += batch;
      last_progress_ = std::max(last_progress_, now_);
      if (thread.measuring) latencies_.add((clock - thread.operation_began) / batch, batch);
      thread.operation_began = clock;
      break;
    }
    case UC_MARK_ROI_ON:
      thread.operation_began = clock;
      thread.measuring = true;
      break;
    case UC_MARK_ROI_OFF:
      thread.measuring = false;
      break;
    case UC_MARK_DELAY:
      thread.hart.clock += std::min(value, kLongestDelay) * 1000;
      thread.delayed_until = thread.hart.clock + thread.hart.cost.instruction;  // it retires yet
      break;
    default:
      break;
  }
}

}  // namespace uncore
