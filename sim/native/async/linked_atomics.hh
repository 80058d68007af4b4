// Atomics of a memory that has none but a pair: load-link, and store-conditional, which fails if
// somebody wrote the line since.
//
// An AMO is a loop of both; an LR and an SC are one each. An SC without a reservation of its line
// fails without asking memory.
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

  // Sends a store-conditional. Returns false if the SC fails for lack of a reservation: nothing was
  // sent then.
  bool store_conditional(const Access& sc) {
    const bool reserved = reservation_ == sc.address >> kUnitShift;
    reservation_.reset();
    if (reserved) memory_.store_conditional(sc.address, sc.size, sc.value);
    return reserved;
  }

  void reserve(const Access& lr) { reservation_ = lr.address >> kUnitShift; }
  void forget_reservation() { reservation_.reset(); }

  // Takes memory's answer to an access of an AMO. Returns the value that the AMO has read once it
  // has written; nothing before.
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

  uint64_t retries() const { return retries_; }  // AMOs whose store-conditional failed

 private:
  AsyncMemory& memory_;
  std::optional<uint64_t> linked_;       // AMO: what its load-link read, while it writes
  std::optional<uint64_t> reservation_;  // the line of the last LR
  uint64_t retries_ = 0;
};

}  // namespace uncore
