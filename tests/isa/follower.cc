// A plugin of qemu-system-riscv64 with which our hart follows QEMU's hart. Before QEMU's hart
// executes an instruction, our hart has executed the previous one, on its own memory. All integer
// registers and the pc must then be equal. From time to time, and at the end, the whole memory must
// be equal.
//
// Decisions of the platform are taken from QEMU: answers of devices, the time, pending interrupts,
// when an interrupt is taken and which one, whether a store-conditional that may fail does fail,
// and the firmware's results in a0 and a1. The firmware's instructions (machine mode) are not
// followed.
//
// QEMU executes one instruction in each translated block (-singlestep). When a block begins, the
// registers are therefore in the structure of QEMU's CPU, which begins with x0 to x31. In generated
// code for x86-64, rbp points to this structure. The declarations of QEMU below are its plugin
// interface, version 1.
//
// Arguments: ram=FILE (the file of QEMU's memory backend), size=BYTES, count=INSTRUCTIONS, and
// every=INSTRUCTIONS between two comparisons of memory. Prints a line of figures, or the first
// difference.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>

#include "hart/hart.hh"

extern "C" {
struct qemu_plugin_tb;
struct qemu_plugin_insn;
using Executed = void (*)(unsigned, void*);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn*, Executed, int flags, void*);
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void*), void*);
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, size_t);
uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);
const void* qemu_plugin_insn_data(const qemu_plugin_insn*);
size_t qemu_plugin_insn_size(const qemu_plugin_insn*);
__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t, const void*, int, char**);
}

namespace uncore {
namespace {

// An instruction that QEMU will execute next.
struct Next {
  uint64_t pc;
  uint32_t word;
};

bool is_csr(uint32_t word) { return (word & 0x7f) == 0x73 && (word >> 12 & 3) != 0; }

// Returns the register to which a load or a CSR instruction writes its value.
unsigned destination(uint32_t word) {
  if ((word & 3) == 3 || (word & 3) == 2) return word >> 7 & 31;
  return 8 + (word >> 2 & 7);
}

class Follower {
 public:
  uint64_t size = 0, limit = 0, every = 0;
  std::string file;

  Follower() : code_(kRamBase, 0), hart_(*this, code_, 0) {}

  // Called when QEMU's hart is about to execute `next`, with these registers.
  void before(const Next& next, const uint64_t* registers) {
    qemu_registers_ = registers;
    if (done_) return;
    if (is_firmware(next.pc)) return enter_firmware();
    if (!following_)
      start_following(next);
    else if (in_firmware_)
      return_from_firmware();
    else
      follow();
    in_firmware_ = false;
    arrive(next);
    executing_ = next;
    if (++instructions_ == limit) end();
    if (instructions_ % every == 0) compare_memory();
  }

  void end() {
    if (done_) return;
    done_ = true;
    if (!following_) fail("the kernel was not entered");
    compare_memory();
    std::printf("%" PRIu64 " instructions, %" PRIu64 " comparisons of memory", instructions_,
                comparisons_);
    for (const auto& [what, times] : counts_) std::printf(", %" PRIu64 " %s", times, what.c_str());
    std::puts("; no difference");
    std::fflush(stdout);
    std::_Exit(0);
  }

  // ---- the port

  Answer load(uint64_t address, unsigned size, uint64_t& value) {
    value = 0;
    std::memcpy(&value, at(address), size);
    return Answer::now;
  }
  Answer store(uint64_t address, unsigned size, uint64_t value) {
    std::memcpy(at(address), &value, size);
    return Answer::now;
  }
  Answer amo(Amo op, uint64_t address, unsigned size, uint64_t operand, uint64_t expected,
             uint64_t& old, unsigned) {
    load(address, size, old);
    return store(address, size, amo_apply(op, size, old, operand, expected));
  }
  Answer cas_pair(uint64_t, Pair, Pair, Pair&, unsigned) { return Answer::fault; }
  Answer lr(uint64_t address, unsigned size, uint64_t& value, unsigned) {
    reserved_ = address;
    return load(address, size, value);
  }
  Answer sc(uint64_t address, unsigned size, uint64_t value, uint64_t& failed, unsigned) {
    const bool has_reservation = reserved_ == address;
    const unsigned rd = destination(executing_.word);
    failed = rd ? qemu_registers_[rd] != 0 : !has_reservation;
    if (!failed && !has_reservation) fail("store-conditional without reservation");
    if (failed && has_reservation) count("store-conditionals failed by QEMU");
    reserved_ = ~uint64_t{0};
    return failed ? Answer::now : store(address, size, value);
  }
  Answer fence(unsigned, unsigned) { return Answer::now; }
  void fence_i() {}
  Answer mmio(uint64_t, unsigned size, bool write, uint64_t& value) {
    count(write ? "writes of devices" : "reads of devices");
    if (!write) value = zero_extend(qemu_registers_[destination(executing_.word)], size);
    return Answer::now;
  }
  bool mapped(uint64_t address, unsigned bytes) const {
    return address >= kRamBase && address - kRamBase <= size - bytes;
  }
  bool fetch(uint64_t address, uint32_t& word) {
    if (!mapped(address, 2)) return false;
    word = 0;
    std::memcpy(&word, at(address), mapped(address, 4) ? 4 : 2);
    return true;
  }
  uint64_t time() { return qemu_registers_[destination(executing_.word)]; }
  uint64_t cycle() { return time(); }
  void set_timer(uint64_t when) { timer_ = when; }
  uint64_t timer() const { return timer_; }
  void marker(unsigned, uint64_t) {}
  void gave_up_attempt() {}
  void trapped(uint64_t cause, bool interrupt) {
    count((interrupt ? "interrupts " : "exceptions ") + std::to_string(cause));
    hart_.clock += interrupt ? 0 : 1;
  }
  void returned() {}

 private:
  static constexpr uint64_t kFirmware = 0x200000;  // bytes at the beginning of memory

  uint8_t* at(uint64_t address) const { return own_memory_ + (address - kRamBase); }
  bool is_firmware(uint64_t pc) const {
    return following_ ? pc - kRamBase < kFirmware : pc < kRamBase + kFirmware;
  }
  uint64_t csr(unsigned number) {
    uint64_t value = 0;
    hart_.read_csr(number, value);
    return value;
  }
  void count(const std::string& what) { ++counts_[what]; }

  void start_following(const Next& next) {
    const int opened = open(file.c_str(), O_RDONLY);
    void* const qemu_memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, opened, 0);
    void* const own_memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (opened < 0 || qemu_memory == MAP_FAILED || own_memory == MAP_FAILED)
      fail("QEMU's memory cannot be mapped");
    qemu_memory_ = static_cast<const uint8_t*>(qemu_memory);
    own_memory_ = static_cast<uint8_t*>(own_memory);
    std::memcpy(own_memory_, qemu_memory_, size);
    hart_.supervise(kTlb);
    hart_.spin_enabled = false;
    hart_.write_csr(CsrNumber::medeleg,
                    ~uint64_t{0});  // the firmware delegates what it does not handle
    hart_.write_csr(CsrNumber::mideleg, ~uint64_t{0});
    hart_.write_csr(CsrNumber::mcounteren, 7);
    hart_.set_mode(Mode::supervisor);
    std::copy_n(qemu_registers_, 32, hart_.x);
    hart_.pc = next.pc;
    following_ = true;
  }

  // Called when QEMU has entered the firmware: by a call, by a trap or an interrupt that the
  // firmware delegates, or between two instructions.
  void enter_firmware() {
    if (!following_ || in_firmware_) return;
    in_firmware_ = true;
    firmware_called_ = executing_.word == kEcall && hart_.mode() == Mode::supervisor;
    if (!firmware_called_) follow();
  }
  void return_from_firmware() {
    if (!firmware_called_) return;
    count("calls of firmware");
    std::copy_n(qemu_registers_ + 10, 2, hart_.x + 10);
    hart_.pc += 4;
  }

  // Executes the instruction that QEMU has executed, or takes the trap that QEMU has taken.
  void follow() {
    const bool slept = hart_.waiting();
    for (unsigned bit : {1u, 5u, 9u})
      if (slept || bit == next_interrupt_) hart_.interrupt(bit, true);
    next_interrupt_ = 0;
    step();
    for (unsigned bit : {1u, 5u, 9u}) hart_.interrupt(bit, false);
    if (is_csr(executing_.word)) replay(executing_.word >> 20);
  }
  void step() {
    hart_.horizon = hart_.clock;
    const uint64_t before = hart_.clock;
    while (hart_.clock == before) {
      const Stop stop = hart_.run();
      if (stop == Stop::horizon || stop == Stop::wfi) continue;
      fail("the hart stopped");
    }
  }
  void replay(unsigned number) {
    uint64_t& value = hart_.x[destination(executing_.word)];
    const uint64_t qemu_value = qemu_registers_[destination(executing_.word)];
    if (value == qemu_value || destination(executing_.word) == 0) return;
    const bool interrupt = value & qemu_value & kInterruptBit;
    if (number != CsrNumber::sip && !(number == CsrNumber::scause && interrupt)) return;
    count(number == CsrNumber::sip ? "pending interrupts read" : "interrupts named by QEMU");
    value = qemu_value;
  }

  // Checks that our hart is at the same instruction as QEMU's. Otherwise it must take the trap that
  // QEMU has taken.
  void arrive(const Next& next) {
    for (unsigned traps = 0; hart_.pc != next.pc; ++traps) {
      const bool handler = next.pc == (csr(CsrNumber::stvec) & ~uint64_t{3});
      if (!handler || traps == 2) return differ(next);
      if (fetchable(hart_.pc)) {
        interrupt();
        break;
      }
      executing_ = {hart_.pc, 0};
      step();
    }
    if (std::memcmp(hart_.x + 1, qemu_registers_ + 1, 31 * sizeof(uint64_t)) != 0) differ(next);
    recent_[instructions_ % recent_.size()] = next;
  }
  // Raises an interrupt at the next step. The handler reads which one QEMU has taken.
  void interrupt() {
    for (unsigned bit : {5u, 9u, 1u}) {
      hart_.interrupt(bit, true);
      const bool taken = hart_.interruptible();
      hart_.interrupt(bit, false);
      if (taken) {
        next_interrupt_ = bit;
        return;
      }
    }
    fail("QEMU has taken a trap that this hart has not");
  }
  // Returns true if the present mode may execute at the address.
  bool fetchable(uint64_t address) {
    const Satp satp{csr(CsrNumber::satp)};
    if (satp.levels() == 0) return mapped(address, 2);
    if (!satp.canonical(address)) return false;
    uint64_t table = satp.root();
    for (unsigned level = satp.levels(); level-- > 0;) {
      Pte pte;
      std::memcpy(&pte.bits, at(table + (address >> shift_of(level) & 511) * 8), 8);
      if (!pte.sound()) return false;
      if (pte.leaf()) return pte.allows(Right::execute, {hart_.mode() == Mode::user, false, false});
      table = pte.address();
    }
    return false;
  }

  void compare_memory() {
    ++comparisons_;
    for (uint64_t page = kFirmware; page < size; page += kPageBytes) {
      if (std::memcmp(own_memory_ + page, qemu_memory_ + page, kPageBytes) == 0) continue;
      for (uint64_t at = page; at < page + kPageBytes; at += 8) {
        uint64_t a, b;
        std::memcpy(&a, own_memory_ + at, 8);
        std::memcpy(&b, qemu_memory_ + at, 8);
        if (a == b) continue;
        std::printf("memory at %#" PRIx64 " has %#" PRIx64 ", on QEMU %#" PRIx64 "\n",
                    kRamBase + at, a, b);
      }
      fail("memory differs");
    }
  }

  void differ(const Next& next) {
    std::printf("behind %#" PRIx64 " (%#x): pc %#" PRIx64 ", on QEMU %#" PRIx64 "\n", executing_.pc,
                executing_.word, hart_.pc, next.pc);
    for (unsigned r = 1; r < 32; ++r)
      if (hart_.x[r] != qemu_registers_[r])
        std::printf("x%u %#" PRIx64 ", on QEMU %#" PRIx64 "\n", r, hart_.x[r], qemu_registers_[r]);
    fail("the harts differ");
  }
  [[noreturn]] void fail(const char* why) {
    std::printf("%s after %" PRIu64 " instructions; before:\n", why, instructions_);
    for (std::size_t n = 1; n <= recent_.size() && n <= instructions_; ++n) {
      const Next& executed = recent_[(instructions_ - n) % recent_.size()];
      std::printf("  %#" PRIx64 " %#x\n", executed.pc, executed.word);
    }
    std::printf("scause %#" PRIx64 " stval %#" PRIx64 " sepc %#" PRIx64 " satp %#" PRIx64
                " fatal %" PRIu64 " %#" PRIx64 "\n",
                csr(CsrNumber::scause), csr(CsrNumber::stval), csr(CsrNumber::sepc),
                csr(CsrNumber::satp), hart_.fatal.cause, hart_.fatal.tval);
    std::fflush(stdout);
    std::_Exit(1);
  }

  static constexpr uint32_t kEcall = 0x73;
  static constexpr TlbSpec kTlb = {.first = 64, .second = 1536, .latency = 1};

  Code code_;
  Hart<Follower> hart_;
  const uint64_t* qemu_registers_ = nullptr;  // registers of QEMU's hart
  const uint8_t* qemu_memory_ = nullptr;      // memory of QEMU's machine
  uint8_t* own_memory_ = nullptr;
  Next executing_ = {};
  std::array<Next, 16> recent_ = {};
  uint64_t instructions_ = 0, comparisons_ = 0, reserved_ = ~uint64_t{0}, timer_ = ~uint64_t{0};
  unsigned next_interrupt_ = 0;  // bit of the interrupt to raise at the next step, or 0
  bool following_ = false, in_firmware_ = false, firmware_called_ = false, done_ = false;
  std::map<std::string, uint64_t> counts_;
};

Follower follower;
std::deque<Next> translated_code;  // a deque, so that elements keep the addresses that QEMU holds

}  // namespace
}  // namespace uncore

extern "C" {

[[gnu::used]] void follow_qemu(void* next, const uint64_t* registers) {
  uncore::follower.before(*static_cast<const uncore::Next*>(next), registers);
}

// Called by QEMU's generated code, in which rbp points to the CPU's structure.
[[gnu::naked]] static void executed(unsigned, void*) {
  asm("mov %rsi, %rdi\n\tmov %rbp, %rsi\n\tjmp follow_qemu@PLT");
}

static void translated(uint64_t, qemu_plugin_tb* block) {
  for (size_t n = 0; n < qemu_plugin_tb_n_insns(block); ++n) {
    qemu_plugin_insn* const in = qemu_plugin_tb_get_insn(block, n);
    uint32_t word = 0;
    std::memcpy(&word, qemu_plugin_insn_data(in), qemu_plugin_insn_size(in));
    uncore::translated_code.push_back({qemu_plugin_insn_vaddr(in), word});
    qemu_plugin_register_vcpu_insn_exec_cb(in, executed, 0, &uncore::translated_code.back());
  }
}

int qemu_plugin_install(uint64_t id, const void*, int count, char** arguments) {
  for (int n = 0; n < count; ++n) {
    const std::string argument = arguments[n];
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals), value = argument.substr(equals + 1);
    if (name == "ram") uncore::follower.file = value;
    if (name == "size") uncore::follower.size = std::stoull(value);
    if (name == "count") uncore::follower.limit = std::stoull(value);
    if (name == "every") uncore::follower.every = std::stoull(value);
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, [](uint64_t, void*) { uncore::follower.end(); }, nullptr);
  return 0;
}
}
