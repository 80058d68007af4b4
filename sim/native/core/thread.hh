// A thread: one hart and the port it sees the world through.
//
// The port's fast path is here, inlined into the interpreter: a load or store that hits the L1 with
// sufficient rights while the store buffer is empty. Everything else is the core's.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "core/issuing.hh"
#include "core/store_buffer.hh"
#include "core/weak.hh"
#include "hart/hart.hh"

namespace uncore {

class Core;

class Thread : public IssuingPort<Thread> {
 public:
  enum class Mode : uint8_t { running, waiting, spinning, idle, stopped };
  struct Heeds {
    bool recording = false;  // the hart seems to spin: note which lines it reads
    bool overtaken = false;  // another hart of the core wrote the line it `looked` at
    // In one look, for every load asks.
    bool any() const { return std::bit_cast<uint16_t>(*this) != 0; }
  };
  static constexpr uint64_t kNoLine = ~uint64_t{0};
  static constexpr uint32_t kRegister = ~uint32_t{0};  // it has asked for a register: no request

  Thread(Core& core, Code& code, uint32_t id, uint32_t index)
      : core(core), id(id), index(index), hart(*this, code, id) {}

  // What every turn looks at stands together, and beside the hart's own time.
  Core& core;
  Thread* next = this;   // of the core's harts, in a circle
  const uint32_t id;     // mhartid: the job's thread number
  const uint32_t index;  // among the core's threads
  Mode mode = Mode::running;
  Heeds heeds;                     // what its next load does beside reading
  bool varies = false;             // the turn it records may not take as long as the next
  bool locks = false;              // in that turn it locks what it reads, by LRs
  bool restarts = false;           // it met the lock of another hart of the core
  bool interrupted = false;        // the trap it handles is an interrupt
  uint32_t asked = 0;              // the number of its far atomic under way, or kRegister
  bool in_kernel = false;          // its supervisor says what it does next
  Time tries = 0;                  // when it is tried again, after a lock (C6); 0: see Mode
  uint64_t ran_at = 0;             // Turns::disturbances_ when it ran last
  std::unique_ptr<Weak> weak;      // null unless its core is weakly ordered
  uint64_t looked = kNoLine;       // the line of its last load, if that is here (C10)
  uint64_t reservation = kNoLine;  // of the last LR
  uint64_t locked = kNoLine;       // the line that its LR has locked
  Time since = 0;                  // when the pending access was issued
  Access pending;                  // what the hart waits for
  StoreBuffer buffer;
  Hart<Thread> hart;
  std::vector<uint64_t> watched;  // lines that it has read while it was `recording`
  Time delayed_until = 0;         // end of the delay it is in, or was in last
  Time late = 0;                  // where it begins what is measured (V3)
  uint64_t kernel_read = 0;       // what its last access in the kernel read
  uint64_t by_software = 0;       // interrupts that it has taken
  uint64_t by_timer = 0;
  bool timer_told = false;  // the last of these by its trap; not yet by stopi

  // Does it execute instructions next?
  bool goes_on() const { return mode == Mode::running && !tries && !in_kernel; }

  // The port (hart/port.hh), with what IssuingPort adds.
  template <bool kernel>
  bool hits(uint64_t address, unsigned size, Time& now, uint64_t& value);
  template <bool kernel>
  bool stores(uint64_t address, unsigned size, uint64_t value, Time now);
  template <bool kernel>
  bool reserves(uint64_t address, unsigned size, Time& now, uint64_t& value);
  bool gives_up(Time now);
  SpinDetector::Watch watches() const {
    using enum SpinDetector::Watch;
    if (weak) return none;
    return heeds.recording && !varies ? steady : possible;
  }
  // Has a fence with these sets nothing to wait for?
  bool passes(unsigned predecessor, unsigned successor) const {
    return !weak && (buffer.empty() || !orders_write_before_read(predecessor, successor));
  }
  Answer fence(unsigned predecessor, unsigned successor);
  void fence_i() {}
  Answer mmio(uint64_t address, unsigned size, bool write, uint64_t& value);
  bool mapped(uint64_t address, unsigned size) const;
  bool fetch(uint64_t address, uint32_t& word);
  uint64_t time() { return hart.clock / 1000; }  // the time base of the native engine is 1 GHz
  uint64_t cycle();
  void set_timer(uint64_t when) { write_register({Register::Kind::mtimecmp, id}, when); }
  uint64_t timer() { return read_register({Register::Kind::mtimecmp, id}); }
  bool get_external(unsigned csr, uint64_t& value);
  bool set_external(unsigned csr, uint64_t value);
  void told(uint64_t cause);
  void marker(unsigned code, uint64_t value);
  void gave_up();
  void trapped(uint64_t cause, bool interrupt);
  void returned();

  // The registers it finds (guest/registers.hh).
  std::optional<Register> register_of(uint64_t address) const;
  void say(char letter);
  bool at_hand(Register r) const;
  uint64_t read_register(Register r);
  void write_register(Register r, uint64_t value);

  // Performs the access now, or leaves it pending.
  Answer issue(Access&& access, Outcome& outcome);

  // It writes: its siblings may have loaded the line ahead (rule C10).
  void overtakes(uint64_t line) const {
    for (Thread* t = next; t != this; t = t->next)
      if (t->looked == line) t->heeds.overtaken = true;
  }

  void watch(uint64_t line) {
    if (std::find(watched.begin(), watched.end(), line) == watched.end()) watched.push_back(line);
  }
};

}  // namespace uncore
