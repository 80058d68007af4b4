// A thread: one hart and the port through which the hart reaches the machine.
//
// The port's fast path is in thread_port.hh, inlined into the interpreter: a load or store that
// hits the L1 with sufficient rights while the store buffer is empty. Everything else is the
// core's. The state that its rules have for each hart stands here, each rule's in a struct of its
// own. Invariant: `pending` has an access only while the hart waits, or tries a lock again.
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
  // waiting: for memory (H5); spinning: asleep in a loop (S1); idle: in wfi; stopped: for good.
  enum class Mode : uint8_t { running, waiting, spinning, idle, stopped };
  struct Heeds {
    bool recording = false;  // the hart seems to spin: note which lines it reads (S1)
    bool overtaken = false;  // another hart of the core wrote the line it loaded last (C10)
    // Both flags in one comparison, because every load asks.
    bool any() const { return std::bit_cast<uint16_t>(*this) != 0; }
  };
  // Interrupts that it has taken, as a result counts them.
  struct Taken {
    uint64_t software = 0, timer = 0;
    bool now = false;  // the trap it handles is an interrupt
    // The last timer interrupt was counted at its trap: stopi does not count it again.
    bool timer_counted = false;
  };

  Thread(Core& core, Code& code, uint32_t id, uint32_t index)
      : core(core), id(id), index(index), hart(*this, code, id) {}

  // What every turn looks at stands together, and beside the hart's own time.
  Core& core;
  Thread* next = this;   // of the core's harts, in a circle
  const uint32_t id;     // mhartid: the job's thread number
  const uint32_t index;  // among the core's threads
  Mode mode = Mode::running;
  Heeds heeds;                 // what its next load does beside reading
  bool in_kernel = false;      // its supervisor says what it does next
  bool stored = false;         // since its last atomic or full fence (H1.6)
  uint64_t ran_at = 0;         // Turns::disturbances_ when it ran last: equal, nothing has changed
  std::unique_ptr<Weak> weak;  // null unless its core is weakly ordered (H8)
  uint64_t loaded = kNoLine;   // the line of its last load, if that is here (C10)
  Reservation reservation;     // C6, C7
  PendingAccess pending;       // H5
  StoreBuffer buffer;          // H3
  Hart<Thread> hart;
  SpinTurn turn;             // S1
  Time delayed_until = 0;    // end of the delay it is in, or was in last (H7)
  Time late = 0;             // by how much it begins what is measured later (V3)
  uint64_t kernel_read = 0;  // what its last access in the kernel read
  Taken taken;

  // Does it execute instructions next?
  bool goes_on() const { return mode == Mode::running && !reservation.tries && !in_kernel; }

  // The port (hart/port.hh), with what IssuingPort and RegisterPort add. `hits`, `stores`,
  // `reserves` and `gives_up` are the fast path; false: nothing is done, the slow path (issue) does
  // it. `in`: the instruction, in the hart's code, which alone says where the hart is.
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
  // Passes a fence that has nothing to wait for, or no longer; what it takes (H1.6).
  Time pass_fence(unsigned predecessor, unsigned successor);
  bool weak_order() const { return weak != nullptr; }
  Answer fence(unsigned predecessor, unsigned successor);
  void fence_i() {}
  bool mapped(uint64_t address, unsigned size) const;
  bool fetch(uint64_t address, uint32_t& word);
  void told(uint64_t cause);
  void marker(unsigned code, uint64_t value);
  void arrived();
  void gave_up();
  void trapped(uint64_t cause, bool interrupt);
  void returned();

  bool confined() const;
  static bool marks_inside(unsigned code) { return Services::keepable(code); }

  // Performs the access now, or leaves it pending.
  Answer issue(Access&& access, Outcome& outcome);

  // The same in the larger table of recent lines.
  bool hits_second(uint64_t address, unsigned size, Time& now, uint64_t& value,
                   const Instruction& in);
  bool stores_second(uint64_t address, unsigned size, uint64_t value, Time now,
                     const Instruction& in);
  bool reserves_second(uint64_t address, unsigned size, Time& now, uint64_t& value);

 private:
  void took(uint64_t cause);
};

using Threads = std::vector<std::unique_ptr<Thread>>;  // of a core

}  // namespace uncore
