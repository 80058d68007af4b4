// A thread: one hart and the port through which the hart reaches the machine.
//
// The port's fast path is in thread_port.hh, inlined into the interpreter: a load or store that
// hits the L1 with sufficient rights while the store buffer is empty. The core does everything
// else. Its rules keep their state for each hart here, each rule in a struct of its own. Invariant:
// `pending` has an access only while the hart waits for memory, or for its next try of a lock.
#pragma once

#include <bit>
#include <memory>
#include <vector>

#include "core/issuing.hh"
#include "core/pending_access.hh"
#include "core/register_port.hh"
#include "core/reservation.hh"
#include "core/spin_turn.hh"
#include "core/store_buffer.hh"
#include "core/weak.hh"
#include "hart/hart.hh"
#include "services/services.hh"

namespace uncore {

class Core;

class Thread : public IssuingPort<Thread>, public RegisterPort<Thread> {
 public:
  // waiting: for memory (H5); spinning: asleep in a loop (S1); idle: in wfi or wrs.nto; stopped:
  // for good.
  enum class Mode : uint8_t { running, waiting, spinning, idle, stopped };
  // Reasons why the hart's next load takes the slow path.
  struct Heeds {
    bool recording = false;  // the hart seems to spin: note which lines it reads (S1)
    bool overtaken = false;  // another hart of the core wrote the line it loaded last (C10)
    // Both flags in one comparison, because every load asks.
    bool any() const { return std::bit_cast<uint16_t>(*this) != 0; }
  };
  // Counts of the interrupts that it has taken, for the result.
  struct Taken {
    uint64_t software = 0, timer = 0;
    bool now = false;  // the trap it handles is an interrupt
    // The last timer interrupt was counted at its trap: stopi does not count it again.
    bool timer_counted = false;
  };

  Thread(Core& core, Code& code, uint32_t id, uint32_t index)
      : core(core), id(id), index(index), hart(*this, code, id) {}

  // The fields that every turn reads stand together, and beside the hart's clock.
  Core& core;
  Thread* next = this;   // the core's next hart, in a circle
  const uint32_t id;     // mhartid: the job's thread number
  const uint32_t index;  // position among the core's threads
  Mode mode = Mode::running;
  Heeds heeds;
  bool in_kernel = false;      // its supervisor decides what it does next
  bool stored = false;         // it has stored since its last atomic or full fence (H1.6)
  uint64_t ran_at = 0;         // Turns::disturbances_ after its last run; if still so: no change
  std::unique_ptr<Weak> weak;  // null unless its core is weakly ordered (H8)
  uint64_t loaded = kNoLine;   // line of its last load, if the core has had it ever since (C10)
  Reservation reservation;     // C6, C7
  PendingAccess pending;       // H5
  StoreBuffer buffer;          // H3
  Hart<Thread> hart;
  SpinTurn turn;             // S1
  Time delayed_until = 0;    // end of its present or last delay (H7)
  Time late = 0;             // delay of the start of what is measured (V3)
  uint64_t kernel_read = 0;  // value that its last access in the kernel read
  Taken taken;

  // Does it execute, awake or asleep in a loop, or wait for a lock (H6)?
  bool executes() const { return mode == Mode::running || mode == Mode::spinning; }
  // Does it execute instructions next?
  bool goes_on() const { return mode == Mode::running && !reservation.tries && !in_kernel; }

  // The port (hart/port.hh), together with IssuingPort and RegisterPort. `hits`, `stores`,
  // `reserves` and `gives_up` are the fast path: they perform the access, or return false, having
  // done nothing, and the slow path (issue) performs it. `in` is the instruction in the hart's
  // code; only it tells where the hart is, because hart.pc lags behind within a straight line.
  template <bool kernel>
  bool hits(uint64_t address, unsigned size, Time& now, uint64_t& value, const Instruction& in);
  template <bool kernel>
  bool stores(uint64_t address, unsigned size, uint64_t value, Time now, const Instruction& in);
  template <bool kernel>
  bool reserves(uint64_t address, unsigned size, Time& now, uint64_t& value);
  bool gives_up(Time now);
  SpinDetector::Watch watches() const {
    using enum SpinDetector::Watch;
    if (weak) return none;
    return heeds.recording && !turn.varies ? steady : possible;
  }
  // Has a fence with these sets nothing to wait for?
  bool passes(unsigned predecessor, unsigned successor) const {
    return !weak && (buffer.empty() || !orders_write_before_read(predecessor, successor));
  }
  // Executes a fence that has nothing to wait for, or no longer. Returns the time that it takes
  // beyond an instruction (H1.6).
  Time pass_fence(unsigned predecessor, unsigned successor);
  bool weak_order() const { return weak != nullptr; }
  Answer fence(unsigned predecessor, unsigned successor);
  void fence_i() {}
  bool mapped(uint64_t address, unsigned size) const;
  bool fetch(uint64_t address, uint32_t& word);
  void told(uint64_t cause);
  void marker(unsigned code, uint64_t value);
  void arrived();
  bool reserves_line() const { return reservation.line != kNoLine; }
  void gave_up();
  void trapped(uint64_t cause, bool interrupt);
  void returned();

  bool confined() const;
  static bool marks_inside(unsigned code) { return Services::keepable(code); }

  // Performs the access now, or leaves it pending.
  Answer issue(Access&& access, Outcome& outcome);

  // hits(), stores() and reserves() in the large table of recent lines, which is probed second.
  bool hits_second(uint64_t address, unsigned size, Time& now, uint64_t& value,
                   const Instruction& in);
  bool stores_second(uint64_t address, unsigned size, uint64_t value, Time now,
                     const Instruction& in);
  bool reserves_second(uint64_t address, unsigned size, Time& now, uint64_t& value);

 private:
  void took(uint64_t cause);
};

using Threads = std::vector<std::unique_ptr<Thread>>;  // the harts of a core

}  // namespace uncore
