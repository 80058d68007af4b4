// A supervisor answers the traps of harts that have no trap handler: a kernel (os/linux.hh) those
// of a program in user mode, a firmware (sbi) those of a kernel.
//
// What such a hart cannot do itself (a system call, a fault, an interrupt) stops the hart. From
// then on the hart is *in the kernel*: at each of its turns it asks the supervisor what it does
// next, until it goes on in user mode. What it accesses meanwhile is an access like any other.
// Invariant: a turn in the kernel is taken at an event, never ahead of one, so that harts change
// the kernel's state in the order of time (T2).
#pragma once

#include <cstdint>
#include <optional>

#include "core/access.hh"

namespace uncore {

class Thread;

class Supervisor {
 public:
  virtual ~Supervisor() = default;

  // The hart stands at a trap (hart.fatal). It is in the kernel when this returns.
  virtual void trapped(Thread& thread) = 0;
  // The hart in the kernel has its turn. Returns the access that it makes next, if any; `in_kernel`
  // is false afterwards where the hart goes on in user mode, or idles.
  virtual std::optional<Access> proceed(Thread& thread) = 0;
  // May user mode touch these bytes without asking?
  virtual bool mapped(uint64_t address, unsigned size) const = 0;
  // A marker of the program (guest/markers.hh).
  virtual void marked(Thread& thread, unsigned code, uint64_t value) = 0;
};

}  // namespace uncore
