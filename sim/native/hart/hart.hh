// A RISC-V hart: RV64GC, Zba, Zbb, Zbs, Zicntr, Zihintpause, Zacas, Zabha; machine and user mode.
//
// A library of its own: no event queue, no cache. It decodes, executes and counts; whatever orders
// memory is its port (port.hh). An environment drives it:
//
//     Code code(text_base, text_size);           // decoded text, shared by all harts of a machine
//     Hart<MyPort> hart(port, code, hart_id);    // pc, cost, horizon are plain fields: set them
//     switch (hart.run()) { ... }                // runs until one of Stop, see below
//
// Time. An instruction starts at `clock`; its port access happens then; when it retires the clock
// advances by cost.instruction (a pause: by cost.pause instead), plus cost.mispredict for a
// conditional branch that was predicted wrongly, plus whatever the port added. An instruction that
// raises an exception costs cost.instruction and does not count. An interrupt is taken at the first
// boundary and costs nothing here: the port hears trapped() and charges it.
//
// Misaligned loads and stores of memory are performed; one that crosses a boundary of `whole` bytes
// is two accesses, between which no interrupt is taken. Misaligned atomics and accesses to devices
// trap (cause 4 or 6).
//
// An environment that is itself the kernel of a program in user mode (set_mode()) leaves mtvec at
// 0: every trap then ends run() as Stop::fatal, with the hart at its instruction.
//
// Spin loops. run() returns Stop::spin when the guest repeats itself: it came back to a place with
// registers and branch predictor unchanged, without any effect in between (see spin.hh), twice in a
// row at equal cost. As long as the memory the loop reads does not change, skip(n) is exactly what
// executing n more periods would do. Between two runs memory may change unseen, so a turn counts
// only if it lies within one run, unless the environment says otherwise (`undisturbed`).
//
// Invariant: between calls of run() the hart is at an instruction boundary, or suspended on the one
// access that was answered `later`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "hart/code.hh"
#include "hart/csr.hh"
#include "hart/floating.hh"
#include "hart/ieee.hh"
#include "hart/instruction.hh"
#include "hart/port.hh"
#include "hart/predictor.hh"
#include "hart/spin.hh"
#include "hart/views.hh"
#include "mmu/mmu.hh"

namespace uncore {

// In the unit of Hart::clock, whatever that is.
struct Cost {
  uint64_t instruction = 1, mispredict = 0, pause = 1;
};

// Why run() returned.
enum class Stop : uint8_t {
  horizon,   // the next instruction would start after the horizon
  later,     // the port answered `later`: call resume(), then run()
  retry,     // the port answered `retry`: the next run() executes the same instruction again
  wfi,       // asleep (pc is behind the wfi) until wakes(); run() before that returns wfi again
  semihost,  // pc at the srai of a semihosting call: read x[10], x[11], set x[10], run()
  spin,      // the guest repeats itself: spin_period and its companions are set
  fatal,     // a trap that has no handler: see Hart::fatal
  overflow,  // pc at the instruction that would move the stack pointer past the end of the stack
};

// A trap that could not be delivered: mtvec is 0 or outside RAM, the handler cannot be fetched, or
// its first instruction raises the next exception.
struct Fatal {
  uint64_t cause, tval, pc;
};

// Where the stack may be, from its end upwards; what the hart knows of it before the stack pointer
// has first been at its top, is nothing.
struct Stack {
  uint64_t end = 0, size = 0;
  bool entered = false;
};

template <class Port>
class Hart {
 public:
  Hart(Port& port, Code& code, uint64_t id) : port_(port), code_(code) { csr_.mhartid = id; }
  Hart(const Hart&) = delete;
  Hart& operator=(const Hart&) = delete;

  // x[0] is always 0, x[kSink] swallows writes to it, x[kFloat] is f0.
  uint64_t x[kRegisters] = {};
  uint64_t pc = 0;
  uint64_t clock = 0;
  uint64_t horizon = 0;  // run() stops before an instruction that would start with clock > horizon
  uint64_t instructions = 0, branches = 0, mispredicts = 0;  // retired; conditional; of those wrong
  uint64_t pauses = 0;                                       // of the instructions
  Cost cost;
  bool spin_enabled = true;
  // The environment vouches, before each run(), that nothing this hart may read has changed since
  // the last one, so that a turn of a waiting loop may span the two (harts that share a core).
  bool undisturbed = false;

  // One period of the loop, valid after Stop::spin.
  uint64_t spin_period = 0, spin_instructions = 0, spin_branches = 0, spin_mispredicts = 0,
           spin_pauses = 0;
  Fatal fatal = {};         // valid after Stop::fatal
  Stack stack;              // its own; of size 0: nothing is checked
  uint64_t ram = kRamBase;  // what is below belongs to devices
  uint64_t whole = 64;      // an access within so many bytes, aligned to their number, is one

  Stop run();
  Stop run_from(Instruction*& at, bool whole);  // run(), where its place is known (execute.hh)
  Stop run_viewed(Views& views);                // the same, followed (views.hh)

  // Completes the access that was answered `later` (a load, amo, lr or mmio read: its value; sc: 1
  // if it failed; store, fence: anything). The instruction retires at the present clock.
  void resume(uint64_t value, uint64_t high = 0);
  bool suspended() const { return suspended_; }
  // Between the two accesses of one instruction?
  bool halfway() const { return half_.size != 0; }
  // The mode in which it goes on.
  void set_mode(Mode mode) {
    csr_.mode = mode;
    changed();
  }
  // Gives it supervisor mode and translation (translate.hh). Before it runs.
  void supervise(TlbSpec tlb);
  Mode mode() const { return csr_.mode; }
  // What sfence.vma and fence.i do, by another hart's order.
  void flush(std::optional<uint64_t> address, std::optional<uint16_t> asid);
  void forget_code();

  // Has it had no effect since it was last at a place where it may wait?
  bool may_wait() const { return spin_.looks(); }
  // What it read while it waited has changed: look for a waiting loop anew.
  void woken() { spin_.effect(); }
  // After Stop::spin: what executing n more periods would do.
  void skip(uint64_t n);

  // Sets or clears a bit of mip: 3 = MSIP, 7 = MTIP, 11 = MEIP.
  void interrupt(unsigned bit, bool level);
  // Would an interrupt be taken at the next boundary?
  bool interruptible() const { return csr_.interruptible(); }
  // Would a wfi fall through? (Pending and enabled in mie; mstatus.MIE does not matter.)
  bool wakes() const { return csr_.wakes(); }
  bool waiting() const { return waiting_; }

  // As the instructions would see them; false = no such CSR (or, to write, a read-only one).
  bool read_csr(unsigned number, uint64_t& value);
  bool write_csr(unsigned number, uint64_t value);

 private:
  // What resume() does with the value: where it lands, and how many bytes are sign-extended.
  struct Landing {
    uint8_t rd = kSink, rd_high = kSink;
    uint8_t sign_size = 8, length = 4;
    uint8_t first = 0;  // of an access that crosses a line: its bytes before that
    uint64_t box = 0;   // set as well
  };
  // What the first access of two has read; of size 0: there was none.
  struct Half {
    uint64_t value = 0;
    uint8_t size = 0;
  };

  // Executes instructions that follow each other, or the first one `alone`. True: the hart goes on
  // at pc. False: run() returns stop_.
  template <bool translated>
  bool straight(Instruction*& at, bool alone = false);
  template <bool translated>
  Instruction* find(uint64_t at) const;
  template <class T, bool translated>
  bool hits(const Instruction& in, uint64_t& now);
  template <class T, bool translated>
  bool stores(const Instruction& in, uint64_t now);
  void account(uint64_t bytes, uint64_t now, uint64_t done) {
    pc += bytes;
    clock = now;
    instructions += done;
  }
  // By how many bytes of code two instructions of one line are apart.
  static uint64_t between(const Instruction* first, const Instruction* at) {
    return 2 * static_cast<uint64_t>(at - first);
  }
  template <bool translated>
  bool reserves(const Instruction& in, uint64_t& now);
  bool goes_on(const Instruction& in, const Instruction* to, uint64_t target, uint64_t now);
  bool gives_up(uint64_t now);
  uint64_t predict(const Instruction& in, uint64_t at, bool taken);
  // Each of these executes one, with the same answer.
  template <class T>
  bool load(const Instruction& in, uint64_t box = 0);
  template <class T>
  bool store(const Instruction& in);
  // Is it two accesses, or none because no device answers it?
  bool is_apart(uint64_t address, unsigned size) const {
    return address < ram || address % whole + size > whole;
  }
  uint8_t first_half(uint64_t address) const {
    return static_cast<uint8_t>(whole - address % whole);
  }
  bool load_halves(uint64_t address, unsigned size, Landing to);
  bool store_halves(uint64_t address, unsigned size, uint64_t value, uint8_t length);
  std::optional<bool> reach_halves(uint64_t address, unsigned size, Right right, uint64_t& part);
  void land_half(Landing to, uint64_t value);
  bool atomic(const Instruction& in);
  bool atomic_pair(const Instruction& in);
  bool load_reserved(const Instruction& in);
  bool store_conditional(const Instruction& in);
  bool fence(const Instruction& in);
  bool passes(const Instruction& fence) const;
  bool branch(const Instruction& in, bool taken);
  bool jump(const Instruction& in, uint64_t target);
  bool move_stack(const Instruction& in, uint64_t from, uint64_t to);
  template <class T>
  bool load_float(const Instruction& in);
  template <class T>
  bool store_float(const Instruction& in);
  bool floating(const Instruction& in);
  bool marker(const Instruction& in);
  bool fence_i(const Instruction& in);
  bool csr(const Instruction& in, uint64_t operand, bool writes);
  bool mret();
  bool wfi();
  bool ebreak(const Instruction& in);
  bool illegal();
  bool interrupted();
  bool trap(uint64_t cause, uint64_t tval, bool interrupt = false);
  bool arrived(const Instruction& by);
  bool finish(Answer answer, Landing to, uint64_t fault, uint64_t address, uint64_t value,
              uint64_t high = 0);

  void land(Landing to, uint64_t value, uint64_t high);
  bool outside();
  bool decode_at(uint64_t address, Instruction& in);
  std::optional<bool> reach_atomic(uint64_t& address, unsigned size, Right right);
  // --- translation ---
  void changed();
  void wrote();
  Stop run_translated();
  std::optional<bool> translate(uint64_t& address, Right right);
  std::optional<bool> locate(uint64_t& address, Right right);
  std::optional<bool> walk(uint64_t address, Right right, View view);
  std::optional<bool> step(Walk& walk, uint64_t address);
  std::optional<uint64_t> follow(Walk& walk, View view);
  Instruction* fetched();
  Instruction* decode_here(Instruction& in);
  Instruction* decode_across(uint64_t at);
  bool sret();
  bool order_translations(const Instruction& in);
  bool set_timer(uint64_t when);
  bool get_timer(uint64_t& when);
  bool get_external(unsigned number, uint64_t& value);
  bool set_external(unsigned number, uint64_t value);
  uint64_t source(unsigned r) const { return r == kSink ? 0 : x[r]; }
  SpinDetector::Meter meter() const { return {clock, instructions, branches, mispredicts, pauses}; }
  void retire(unsigned length, uint64_t duration) {
    pc += length;
    clock += duration;
    ++instructions;
  }
  bool stop(Stop why) {
    stop_ = why;
    return false;
  }

  Port& port_;
  Code& code_;
  Landing landing_;
  Half half_;
  Stop stop_ = Stop::horizon;
  bool suspended_ = false, waiting_ = false;
  bool attention_ = false;   // an interrupt is to be taken: csr_.interruptible(), at each change
  bool handling_ = false;    // between a trap and its mret
  bool attempting_ = false;  // between an LR and its SC
  Instruction outside_[3];   // the instruction at a pc outside the decoded range, then undecoded
  uint64_t cycle_offset_ = 0, instret_offset_ = 0;  // what the guest wrote to mcycle, minstret
  Csr csr_;
  Predictor predictor_;
  SpinDetector spin_;
  std::unique_ptr<Mmu<Instruction>> mmu_;  // null: it has neither supervisor mode nor translation
  bool goes_on_ = true;                    // after a fetch that ended in a trap?
  uint64_t aged_ = 0;                      // CodePages::grow_old() when it forgot code last
};

}  // namespace uncore

#include "hart/accesses.hh"    // IWYU pragma: export
#include "hart/execute.hh"     // IWYU pragma: export
#include "hart/float_unit.hh"  // IWYU pragma: export
#include "hart/translate.hh"   // IWYU pragma: export
#include "hart/trap.hh"        // IWYU pragma: export
