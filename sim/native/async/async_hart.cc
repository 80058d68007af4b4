#include "async/async_hart.hh"

#include <algorithm>
#include <utility>

#include "hart/hart.hh"
#include "uncore_abi.h"

namespace uncore {

AsyncHart::AsyncHart(const AsyncSpec& spec, const Image& image, AsyncMemory& memory,
                     Simulator& simulator)
    : spec_(spec),
      memory_(memory),
      simulator_(simulator),
      registers_(spec_, simulator),
      accesses_(spec_, memory, registers_),
      port_(spec_, image, accesses_, registers_),
      hart_(port_.hart) {}

std::string AsyncHart::report() {
  port_.console.end();  // completes the guest's last line, so that the report begins a new one
  if (!port_.console.text.empty()) {
    port_.console.text += '\n';
    print();
  }
  return "uncore: hart=" + std::to_string(spec_.id) +
         " instructions=" + std::to_string(hart_.instructions) +
         " operations=" + std::to_string(port_.operations.done()) +
         " retries=" + std::to_string(accesses_.retries()) +
         " latencies=" + port_.operations.latencies() + '\n';
}

// ---- executing

void AsyncHart::run_at(Time when) {
  wake_at_ = std::max(when, simulator_.now());
  simulator_.alarm_at(Alarm::run, *wake_at_);
}

void AsyncHart::woken() {
  if (wake_at_ != simulator_.now()) return;  // outdated: the hart was woken earlier
  wake_at_.reset();
  if (!hart_.suspended() || perform()) run();
}

void AsyncHart::run() {
  while (!halted_) {
    if (port_.operations.overdue(simulator_.now(), spec_.watchdog))
      return end("watchdog", UC_EXIT_TRAPPED);
    hart_.horizon = registers_.quiet_until() - 1;
    const Stop why = hart_.run();
    print();
    if (stopped(why)) return;
  }
}

// Handles the reason why the hart has stopped. Returns false if the hart can continue at once.
bool AsyncHart::stopped(Stop why) {
  switch (why) {
    case Stop::horizon:
      run_at(hart_.clock);
      return true;
    case Stop::later:
      if (hart_.clock <= simulator_.now()) return !perform();
      run_at(hart_.clock);
      return true;
    case Stop::wfi:
      return true;
    case Stop::semihost:
      begin_call();
      return true;
    case Stop::overflow:
    case Stop::fatal:
      trap_without_handler();
      return true;
    case Stop::awaits:
    case Stop::awaits_shortly:
    case Stop::pause:
    case Stop::spin:
    case Stop::retry:
      break;
  }
  return false;
}

// Performs the pending access. Returns whether it has completed.
bool AsyncHart::perform() {
  const std::optional<Done> done = accesses_.perform();
  if (done) resume(*done);
  return done.has_value();
}

void AsyncHart::resume(const Done& done) {
  hart_.clock = std::max(hart_.clock, simulator_.now()) + done.cost;
  hart_.resume(done.value);
}

void AsyncHart::go_on(const std::optional<Done>& done) {
  if (!done) return;
  resume(*done);
  run();
}

void AsyncHart::answered(const MemoryAnswer& answer) {
  if (call_ && call_request_ == answer.request) return take_for_call(answer.value);
  go_on(accesses_.answered(answer));
}

// Ends the run, for all harts.
void AsyncHart::end(const std::string& outcome, uint64_t code) {
  simulator_.print("uncore: " + outcome + " hart=" + std::to_string(spec_.id) + " code=" +
                   std::to_string(code) + " time=" + std::to_string(simulator_.now()) + '\n');
  halt();
  simulator_.end();
}

void AsyncHart::trap_without_handler() {
  const Fatal& fatal = hart_.fatal;
  end("fatal cause=" + std::to_string(fatal.cause) + " pc=" + std::to_string(fatal.pc) +
          " tval=" + std::to_string(fatal.tval),
      UC_EXIT_TRAPPED);
}

// ---- interrupts and registers

void AsyncHart::alarm(Alarm alarm) {
  switch (alarm) {
    case Alarm::run:
      return woken();
    case Alarm::accept:
      return accept(registers_.accepted_message());
    case Alarm::timer:
      if (registers_.due()) pending(kTimer, true);
  }
}

void AsyncHart::received(const HartMessage& message) {
  if (message.kind != HartMessage::Kind::value) return registers_.arrived(message);
  go_on(Done{.value = message.value});
}

void AsyncHart::accept(const HartMessage& message) {
  if (message.kind == HartMessage::Kind::read) return registers_.answer(message);
  const Time clock = std::max(hart_.clock, simulator_.now());
  const Clint::Change change = registers_.write(message.target, message.value, clock);
  pending(change.bit, change.level);
}

// Changes a bit of mip. An interrupt wakes a hart from wfi, and ends the delay of a marker early;
// after the handler, the guest's loop delays again for the remaining time.
void AsyncHart::pending(unsigned bit, bool level) {
  const Time now = simulator_.now();
  const bool waited = hart_.waiting();
  hart_.interrupt(bit, level);
  if (halted_ || !level) return;
  const bool delayed = hart_.clock == port_.delayed_until && hart_.clock > now;
  if (!hart_.suspended() && delayed && hart_.interruptible()) {
    hart_.clock = now;
    run_at(now);
  }
  if (waited && hart_.wakes()) {
    hart_.clock = std::max(hart_.clock, now);
    run_at(hart_.clock);
  }
}

// ---- semihosting

// Begins a semihosting call. Its arguments are read from memory, not from the store buffer, because
// the guest executes a fence before the call, which has drained the buffer.
void AsyncHart::begin_call() {
  call_.emplace(hart_.x[10], hart_.x[11]);
  if (call_->reads()) return read_for_call();
  end_call();
  run_at(hart_.clock);
}

void AsyncHart::read_for_call() { call_request_ = memory_.read(call_->address(), 8); }

void AsyncHart::take_for_call(uint64_t doubleword) {
  hart_.clock = std::max(hart_.clock, simulator_.now());
  call_->take(doubleword);
  port_.console.say(spec_.id, std::exchange(call_->text, {}));
  print();
  if (call_->reads()) return read_for_call();
  end_call();
  run();
}

void AsyncHart::end_call() {
  const Semihosting call = *std::exchange(call_, {});
  hart_.x[10] = call.answer;
  if (call.exit_code) end("exit", *call.exit_code);
}

void AsyncHart::print() {
  if (port_.console.text.empty()) return;
  simulator_.print(port_.console.text);
  port_.console.text.clear();
}

}  // namespace uncore
