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

}  // namespace uncore
