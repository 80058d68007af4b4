#include "os/task.hh"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace uncore {

Registers Task::read_registers() const {
  if (state != State::running) return registers;
  Registers read;
  std::ranges::copy(thread->hart.x, read.x);
  read.pc = thread->hart.pc;
  thread->hart.read_csr(CsrNumber::fcsr, read.fcsr);
  return read;
}

Flow::ResumeAwaiter Task::exit(int code) {
  thread->core.end_run(*thread, End::Cause::exited, code);
  return suspend();
}

Flow::ResumeAwaiter Task::give_up(std::string why) {
  thread->core.end_run(*thread, End::Cause::fatal, 0, std::move(why));
  return suspend();
}

std::string describe(const Task& task) {
  char text[64];
  std::snprintf(text, sizeof text, "%#" PRIx64 " (thread %u)", task.called_at, task.tid);
  return text;
}

std::string describe(const Task& task, const Fatal& why) {
  static constexpr const char* kCauses[] = {"a misaligned jump",
                                            "a jump to memory that is not mapped",
                                            "an instruction that is not there",
                                            "a breakpoint",
                                            "a misaligned load",
                                            "a load from memory that is not mapped",
                                            "a misaligned store or atomic",
                                            "a store to memory that is not mapped or not writable"};
  char text[160];
  if (why.cause >= std::size(kCauses))
    std::snprintf(text, sizeof text, "%#" PRIx64 " (thread %u)", why.pc, task.tid);
  else
    std::snprintf(text, sizeof text, "%s at %#" PRIx64 " (thread %u, address %#" PRIx64 ")",
                  kCauses[why.cause], why.pc, task.tid, why.tval);
  return text;
}

}  // namespace uncore
