// Performs atomics on a memory that has only load-link and store-conditional. The latter fails if
// another hart has written the line since the load-link.
//
// An AMO is a loop of the two; an LR is a load-link, and an SC a store-conditional. An SC without a
// reservation of its line fails without a request to memory.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "async/async_memory.hh"
#include "core/access.hh"

namespace uncore {

class LinkedAtomics {
 public:
  explicit LinkedAtomics(AsyncMemory& memory) : memory_(memory) {}

  void load_link(const Access& access) { memory_.load_link(access.address, access.size); }

  // Sends a store-conditional. Returns false, and sends nothing, if the hart has no reservation of
  // the line, so that the SC fails.
  bool store_conditional(const Access& sc) {
    const bool reserved = reservation_ == sc.address >> kUnitShift;
    reservation_.reset();
    if (reserved) memory_.store_conditional(sc.address, sc.size, sc.value);
    return reserved;
  }

  void reserve(const Access& lr) { reservation_ = lr.address >> kUnitShift; }
  void forget_reservation() { reservation_.reset(); }

  // Takes memory's answer to a request of an AMO. Returns the value that the AMO has read once it
  // has also written; before that, null.
  std::optional<uint64_t> answered(const Access& amo, const MemoryAnswer& answer) {
    if (!linked_) {
      linked_ = answer.value;
      const uint64_t next = amo_apply(amo.op, amo.size, answer.value, amo.value, amo.expected);
      memory_.store_conditional(amo.address, amo.size, next);
      return std::nullopt;
    }
    if (!answer.failed) return std::exchange(linked_, std::nullopt);
    ++retries_;
    linked_.reset();
    load_link(amo);
    return std::nullopt;
  }

  // Returns how often an AMO's store-conditional has failed.
  uint64_t retries() const { return retries_; }

 private:
  AsyncMemory& memory_;
  std::optional<uint64_t> linked_;       // value that the AMO in progress has read
  std::optional<uint64_t> reservation_;  // the line of the last LR
  uint64_t retries_ = 0;
};

}  // namespace uncore
