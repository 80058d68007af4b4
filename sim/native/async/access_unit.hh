// The accesses of a hart to memory, one at a time, and its stores behind them.
//
// Interface: note() the access that the hart wants, perform() it when its time has come, and hand
// on what memory answered(). The last two return Done when the hart can go on.
//
// Invariant: a pending access waits for its turn, for the store buffer (`blocked_`), for an answer
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
  // A completed access: the value that it read (of an SC: 1 if it failed), and the time that it
  // takes beyond memory's, in ps.
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
