#include "services/services.hh"

#include "guest/semihosting.hh"

namespace uncore {

std::optional<int> Services::call(uint32_t hart, uint64_t* x) {
  progress_ = queue_.now();
  Semihosting call(x[10], x[11]);
  while (call.reads()) call.take(memory_.doubleword(call.address()));
  console.say(hart, call.text);
  x[10] = call.answer;
  if (!call.exit_code) return std::nullopt;
  return static_cast<int>(*call.exit_code);
}

std::optional<Time> Services::mark(uint32_t hart, unsigned code, uint64_t value, Time clock) {
  const Marked marked = of_hart_[hart].mark(code, value, clock);
  if (marked.operations) progress_ = queue_.now();
  operations_ += marked.operations;
  begun_ |= begins(code);
  if (marked.latency) latencies_.add(*marked.latency, marked.operations);
  if (!marked.delay) return std::nullopt;
  return *marked.delay * 1000;  // ns
}

}  // namespace uncore
