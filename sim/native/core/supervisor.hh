// Who answers the traps of harts that run a program in user mode: a kernel, seen from the core. Or
// those of harts that run a kernel: its firmware.
//
// Such a hart has no trap handler. What it cannot do itself (a system call, a fault, an interrupt)
// stops it, and from then on it is *in the kernel*: whenever it has its turn it asks what it does
// next, until it goes on in user mode. What it accesses meanwhile is an access like any
// other. A turn in the kernel is taken at an event, never ahead of one, so that what harts do to
// the kernel's state is done in the order of time (T2).
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
  // It has its turn: what it accesses next, if it does. Where it goes on in user mode, or idles,
  // its `in_kernel` is false then.
  virtual std::optional<Access> proceed(Thread& thread) = 0;
  // May user mode touch these bytes without asking?
  virtual bool mapped(uint64_t address, unsigned size) const = 0;
  // A marker of the program (guest/markers.hh).
  virtual void marked(Thread& thread, unsigned code, uint64_t value) = 0;
};

}  // namespace uncore
