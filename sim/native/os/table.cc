// From a call's number to its function.
#include <algorithm>

#include "os/calls.hh"

namespace uncore {
namespace {

constexpr Call kCalls[] = {
#define CALL(number, name) {number, #name, calls::name, false},
#define LIFE(number, name) {number, #name, calls::name, true},
#include "os/calls.def"
#undef CALL
#undef LIFE
};

static_assert(std::ranges::is_sorted(kCalls, {}, &Call::number));

}  // namespace

const Call* call_of(uint64_t number) {
  const auto* const found = std::ranges::lower_bound(kCalls, number, {}, &Call::number);
  return found != std::end(kCalls) && found->number == number ? found : nullptr;
}

}  // namespace uncore
