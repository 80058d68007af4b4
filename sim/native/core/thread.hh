// A thread: one hart and the port through which the hart reaches the machine.
//
// The port's fast path is in thread_port.hh, inlined into the interpreter: a load or store that
// hits the L1 with sufficient rights while the store buffer is empty. The core does everything
// else. The rules of the core keep their state of each hart here, most of them in a struct of their
// own. Invariant: `pending` has an access only while the hart waits for memory or for the end of a
// lock.
#pragma once

#include <bit>
#include <memory>
#include <vector>

#include "core/issuing.hh"
#include "core/pending_access.hh"
#include "core/register_port.hh"
#include "core/reservation.hh"
#include "core/spin_iteration.hh"
#include "core/store_buffer.hh"
#include "core/weak.hh"
#include "hart/hart.hh"
#include "services/services.hh"

namespace uncore {

class Core;

class Thread : public IssuingPort<Thread>, public RegisterPort<Thread> {
 public:
  // waiting: for memory (H5); spinning: asleep in a loop (S1); idle: in wfi or wrs.nto; stopped: it
  // never executes again.
  enum class Mode : uint8_t { running, waiting, spinning, idle, stopped };
  // Reasons why the hart's next load takes the slow path.
  struct SlowPathReasons {
    bool recording = false;  // the hart seems to spin: record which lines it reads (S1)
    bool overtaken = false;  // another hart of the core wrote the line it loaded last (C10)
    // Returns true if either flag is set. One comparison checks both, because every load calls
    // this.
    bool any() const { return std::bit_cast<uint16_t>(*this) != 0; }
  };
  // Numbers of interrupts that the hart has taken, for the results.
  struct TakenInterrupts {
    uint64_t software = 0, timer = 0;
    bool in_interrupt = false;  // the trap that the hart is handling is an interrupt
    // The last timer interrupt was counted at its trap, so a read of stopi does not count it again.
    bool timer_counted = false;
  };

  Thread(Core& core, Code& code, uint32_t id, uint32_t index)
      : core(core), id(id), index(index), hart(*this, code, id) {}

  // The fields that every turn reads are adjacent, and close to the hart's clock.
  Core& core;
  Thread* next = this;   // the core's next hart; the last hart points to the first
  const uint32_t id;     // mhartid: the number of the job's thread
  const uint32_t index;  // position among the core's threads
  Mode mode = Mode::running;
  SlowPathReasons slow_path;
  // The hart is in the simulated kernel: the supervisor decides what it does next.
  bool in_kernel = false;
  bool stored = false;  // the hart has stored since its last atomic or full fence (H1.6)
  // The value of Turns::disturbances_ after the hart's last run. If it is the same now, nothing has
  // changed since.
  uint64_t disturbances_seen = 0;
  std::unique_ptr<Weak> weak;  // null unless its core is weakly ordered (H8)
  uint64_t loaded = kNoLine;   // line of its last load, if the core has held it ever since (C10)
  Reservation reservation;     // C6, C7
  PendingAccess pending;       // H5
  StoreBuffer buffer;          // H3
  Hart<Thread> hart;
  SpinIteration iteration;   // S1
  Time delayed_until = 0;    // end of the hart's present or last delay (H7)
  Time start_delay = 0;      // random delay before the hart's measured part begins (V3)
  uint64_t kernel_read = 0;  // value read by the hart's last access in the kernel
  TakenInterrupts taken;

  // Returns true if the hart counts as executing (H6): it runs, sleeps in a spin loop, or waits for
  // a lock.
  bool executes() const { return mode == Mode::running || mode == Mode::spinning; }
  // Returns true if the hart's next step is to execute instructions.
  bool executes_next() const {
    return mode == Mode::running && !reservation.next_try && !in_kernel;
  }

  // The port (hart/port.hh), together with IssuingPort and RegisterPort. `try_load`, `try_store`,
  // `try_reserve` and `try_end_lock` are the fast path: each performs its operation, or returns
  // false without any effect, and the slow path (issue) is taken. `in` is the instruction being
  // executed. It identifies the pc, because hart.pc is not updated within straight-line code.
  template <bool kernel>
  bool try_load(uint64_t address, unsigned size, Time& now, uint64_t& value, const Instruction& in);
  template <bool kernel>
  bool try_store(uint64_t address, unsigned size, uint64_t value, Time now, const Instruction& in);
  template <bool kernel>
  bool try_reserve(uint64_t address, unsigned size, Time& now, uint64_t& value);
  bool try_end_lock(Time now);
  SpinDetector::Watch watches() const {
    using enum SpinDetector::Watch;
    if (weak) return none;
    return slow_path.recording && !iteration.varies ? steady : possible;
  }
  // Returns true if a fence with these sets has nothing to wait for.
  bool passes(unsigned predecessor, unsigned successor) const {
    return !weak && (buffer.empty() || !orders_write_before_read(predecessor, successor));
  }
  // Executes a fence that has nothing left to wait for. Returns the time that it takes beyond an
  // ordinary instruction (H1.6).
  Time pass_fence(unsigned predecessor, unsigned successor);
  bool weak_order() const { return weak != nullptr; }
  Answer fence(unsigned predecessor, unsigned successor);
  void fence_i() {}
  bool mapped(uint64_t address, unsigned size) const;
  bool fetch(uint64_t address, uint32_t& word);
  uint64_t cycle() const;
  void stopi_read(uint64_t cause);
  void marker(unsigned code, uint64_t value);
  void arrived();
  bool reserves_line() const { return reservation.line != kNoLine; }
  void gave_up_attempt();
  void trapped(uint64_t cause, bool interrupt);
  void returned();

  bool confined() const;
  static bool marks_inside(unsigned code) { return Services::is_keepable(code); }

  // Performs the access now, or leaves it pending.
  Answer issue(Access&& access, Outcome& outcome);

  // Versions of try_load(), try_store() and try_reserve() that use the large table of recent lines,
  // which is searched after the small one.
  bool try_load_large(uint64_t address, unsigned size, Time& now, uint64_t& value,
                      const Instruction& in);
  bool try_store_large(uint64_t address, unsigned size, uint64_t value, Time now,
                       const Instruction& in);
  bool try_reserve_large(uint64_t address, unsigned size, Time& now, uint64_t& value);

 private:
  void count_interrupt(uint64_t cause);
};

using Threads = std::vector<std::unique_ptr<Thread>>;  // the harts of a core

}  // namespace uncore
