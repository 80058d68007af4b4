// The memory accesses of a hart, one at a time, and its store buffer.
//
// Interface: note() an access that the hart issues, perform() it when simulated time has reached
// the hart's clock, and pass memory's answers to answered(). The latter two return Done when the
// hart can continue.
//
// Invariant: a pending access waits for perform(), for the store buffer (`blocked_`), for an answer
// of memory, or for a register of another hart.
#pragma once

#include <optional>

#include "async/async_spec.hh"
#include "async/draining_stores.hh"
#include "async/interrupt_registers.hh"
#include "async/linked_atomics.hh"

namespace uncore {

class AccessUnit {
 public:
  // A completed access: the value that it read (for an SC, 1 if it failed), and the time in ps that
  // it takes in addition to memory's.
  struct Done {
    uint64_t value = 0;
    Time cost = 0;
  };

  AccessUnit(const AsyncSpec& spec, AsyncMemory& memory, InterruptRegisters& registers)
      : spec_(spec),
        memory_(memory),
        registers_(registers),
        stores_(memory, spec.stores),
        atomics_(memory) {}

  void note(const Access& access) { access_ = access; }
  std::optional<Done> perform();
  std::optional<Done> answered(const MemoryAnswer& answer);

  bool draining() const { return !stores_.empty(); }
  void forget_reservation() { atomics_.forget_reservation(); }
  uint64_t retries() const { return atomics_.retries(); }

 private:
  std::optional<Done> load();
  std::optional<Done> store();
  std::optional<Done> far_register();

  const AsyncSpec& spec_;
  AsyncMemory& memory_;
  InterruptRegisters& registers_;
  DrainingStores stores_;
  LinkedAtomics atomics_;
  Access access_;
  bool blocked_ = false;
};

}  // namespace uncore
