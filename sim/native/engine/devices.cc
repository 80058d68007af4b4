// What the guest says to the world beside memory: semihosting, markers, the end of its run.
#include <algorithm>

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
        console.push_back(static_cast<char>(c));
      }
      x[10] = 0;
      break;
    case kExit:
      exit(thread, 0);
      break;
    case kExitExtended: {
      uint64_t block[2] = {0, 0};
      read(x[11], sizeof block, reinterpret_cast<uint8_t*>(block));
      exit(thread, static_cast<int>(block[1]));
      break;
    }
    case kGetCommandLine:
    default:
      x[10] = ~uint64_t{0};
  }
}

// A run ends when the exit could have reached every core (rule T4): none has run further.
void Engine::exit(Thread& thread, int code) {
  thread.mode = Thread::Mode::stopped;
  if (exit_at_ != kNever) return;
  exit_code_ = code;
  exit_at_ = thread.hart.clock;
  for (const auto& core : cores_) exit_at_ = std::max(exit_at_, thread.hart.clock + core->reach);
  queue_.push({exit_at_, ~uint64_t{0}, ~uint64_t{0}, kEnd, 0});
}

void Engine::end_run(Time now) {
  for (const auto& core : cores_) core->settle(now + 1);
  finish(End::exited, "");
}

void Engine::fatal(const Thread& t) {
  finish(End::fatal, "hart " + std::to_string(t.id) + " trapped without a handler, cause " +
                         std::to_string(t.hart.fatal.cause));
}

void Engine::marker(Thread& thread, unsigned code, uint64_t value) {
  const Time clock = thread.hart.clock;
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
      thread.delayed_until = thread.hart.clock;
      break;
    default:
      break;
  }
}

}  // namespace uncore
