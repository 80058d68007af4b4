// A supervisor handles the traps of harts that have no trap handler of their own. A simulated
// kernel (os/linux.hh) handles those of a program in user mode; a simulated firmware (sbi) handles
// those of a guest kernel.
//
// A system call, a fault or an interrupt stops such a hart. From then on the hart is *in the
// kernel*: at each of its turns the supervisor decides its next step, until the hart continues in
// user mode. Its memory accesses in the kernel are timed like any other. Invariant: a hart takes a
// turn in the kernel at an event, and never runs ahead of events, so that harts change the kernel's
// state in the order of time (T2).
#pragma once

#include <cstdint>
#include <optional>

#include "core/access.hh"

namespace uncore {

class Thread;

class Supervisor {
 public:
  virtual ~Supervisor() = default;

  // Called when the hart has stopped at a trap (hart.fatal). The hart is in the kernel when this
  // returns.
  virtual void trapped(Thread& thread) = 0;
  // Called at each turn of a hart in the kernel. Returns the access that it makes next, if any.
  // Clears `in_kernel` if the hart continues in user mode, or idles.
  virtual std::optional<Access> proceed(Thread& thread) = 0;
  // Returns true if user mode may access these bytes without a trap.
  virtual bool mapped(uint64_t address, unsigned size) const = 0;
  // Called when the program executes a marker (guest/markers.hh).
  virtual void marked(Thread& thread, unsigned code, uint64_t value) = 0;
};

}  // namespace uncore
