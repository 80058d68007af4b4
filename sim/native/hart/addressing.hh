// Result of looking for an access's physical address: found, or the reason why the instruction
// cannot continue.
#pragma once

#include <cstdint>

#include "hart/csr.hh"
#include "mmu/page_table.hh"

namespace uncore {

struct Reach {
  enum class End : uint8_t { reached, trap, retry, later } end = End::reached;
  Cause cause{};

  Reach() = default;
  Reach(End end) : end(end) {}
  Reach(Cause cause) : end(End::trap), cause(cause) {}
  explicit operator bool() const { return end == End::reached; }
};

constexpr Cause page_fault(Right right) {
  if (right == Right::execute) return kFetchPageFault;
  return right == Right::write ? kStorePageFault : kLoadPageFault;
}
constexpr Cause access_fault(Right right) {
  if (right == Right::execute) return kFetchFault;
  return right == Right::write ? kStoreFault : kLoadFault;
}
constexpr Cause misaligned(Right right) {
  return right == Right::write ? kStoreMisaligned : kLoadMisaligned;
}

}  // namespace uncore
