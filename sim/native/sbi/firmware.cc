// Implements the SBI calls, and starts and stops the harts.
#include "sbi/firmware.hh"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>

#include "core/thread_port.hh"

namespace uncore {
namespace {

constexpr unsigned kA0 = 10, kEcallBytes = 4;

// Values of medeleg and mideleg: supervisor mode handles all exceptions except its own ecall, and
// the three supervisor interrupts.
constexpr uint64_t kTraps = 0xb1ff, kInterrupts = 0x222, kSoftwareInterrupt = 1 << 1;

constexpr uint64_t kEnabled = 1 << 1;  // SIE of sstatus
// Value of mcounteren and scounteren: cycle, time and instret may be read.
constexpr uint64_t kCounters = 7;

// Returns the address of a hart's register for remote fences (guest/registers.hh). Only the
// firmware reads it: the read makes that hart perform the fence that the reader has requested.
constexpr uint64_t fence_register_of(uint32_t hart) { return kFenceRegisters + 4 * uint64_t{hart}; }

}  // namespace

void Firmware::begin(const std::vector<Thread*>& threads) {
  cpus_ = std::vector<Cpu>(threads.size());
  parts_.services.console.letter_by_letter = true;
  parts_.services.console.listens = false;
  for (Thread* const thread : threads) {
    Hart<Thread>& hart = thread->hart;
    const CoreSpec& core = thread->core.spec;
    hart.supervise(
        {core.tlb_first, core.tlb_second, core.tlb_latency, core.tlb_ways, core.tlb_large});
    hart.write_csr(CsrNumber::medeleg, kTraps);
    hart.write_csr(CsrNumber::mideleg, kInterrupts);
    hart.write_csr(CsrNumber::mcounteren, kCounters);
    hart.write_csr(CsrNumber::scounteren, kCounters);
    Cpu& cpu = cpus_[thread->id];
    cpu.thread = thread;
    hart.set_mode(Mode::supervisor);
    stop(cpu);
  }
  cpus_[0].entry = parts_.job.entry;
  cpus_[0].opaque = parts_.job.boot.tree;
  start(cpus_[0]);
  threads[0]->mode = Thread::Mode::running;
}

// Starts a hart in supervisor mode, with physical addresses and without interrupts.
void Firmware::start(Cpu& cpu) {
  Hart<Thread>& hart = cpu.thread->hart;
  hart.write_csr(CsrNumber::satp, 0);
  hart.write_csr(CsrNumber::sie, 0);
  hart.write_csr(CsrNumber::sip, 0);
  hart.write_csr(CsrNumber::sstatus, 0);
  hart.set_mode(Mode::supervisor);
  hart.x[kA0] = cpu.thread->id;
  hart.x[kA0 + 1] = cpu.opaque;
  hart.pc = cpu.entry;
  cpu.state = State::started;
}

// Stops a hart until another one starts it. The hart idles with stvec = 0, so a software interrupt
// traps without a handler and comes back to trapped().
void Firmware::stop(Cpu& cpu) {
  Hart<Thread>& hart = cpu.thread->hart;
  hart.write_csr(CsrNumber::stvec, 0);
  hart.write_csr(CsrNumber::sie, kSoftwareInterrupt);
  hart.write_csr(CsrNumber::sip, 0);
  hart.write_csr(CsrNumber::sstatus, kEnabled);
  cpu.thread->mode = Thread::Mode::idle;
  cpu.state = State::stopped;
}

void Firmware::trapped(Thread& thread) {
  Cpu& cpu = cpus_[thread.id];
  const Fatal why = thread.hart.fatal;
  thread.hart.woken();
  if (why.cause & kInterruptBit && cpu.state != State::started) {
    if (cpu.state == State::starting) return start(cpu);
    return stop(cpu);
  }
  if (why.cause != kSupervisorEcall) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "hart %u trapped without a handler, cause %" PRIu64 " at %#" PRIx64
                  " (address %#" PRIx64 ")",
                  thread.id, why.cause, why.pc, why.tval);
    return give_up(thread, text);
  }
  thread.in_kernel = true;
  thread.kernel_read = 0;
  cpu.flow.take_up(call(cpu));
}

std::optional<Access> Firmware::proceed(Thread& thread) {
  Flow& flow = cpus_[thread.id].flow;
  if (!flow.proceed(thread.kernel_read)) {
    thread.in_kernel = false;
    return std::nullopt;
  }
  thread.hart.clock += flow.pause;
  return flow.next_access;
}

void Firmware::give_up(Thread& thread, std::string why) {
  thread.core.end_run(thread, End::Cause::fatal, 0, std::move(why));
}

// Performs on `thread` the remote fence that hart `requester` has requested and waits for.
void Firmware::ordered(Thread& requester, Thread& thread, Time now) {
  constexpr uint64_t kMaxSinglePages = 64;  // a larger range flushes the whole TLB
  const Order& order = cpus_[requester.id].order;
  if (thread.mode == Thread::Mode::spinning) thread.core.sleep.wake(thread, now);
  if (order.code) return thread.hart.forget_code();
  if (order.size > kMaxSinglePages * kPageBytes || order.size == 0)
    return thread.hart.flush(std::nullopt, order.asid);
  for (uint64_t address = order.start; address < order.start + order.size; address += kPageBytes)
    thread.hart.flush(address, order.asid);
}

// ---- calls

namespace {

#define EXTENSIONS(X)           \
  X(SBI_EXT_BASE, 0x10)         \
  X(SBI_EXT_TIME, 0x54494D45)   \
  X(SBI_EXT_IPI, 0x735049)      \
  X(SBI_EXT_RFENCE, 0x52464E43) \
  X(SBI_EXT_HSM, 0x48534D)      \
  X(SBI_EXT_SRST, 0x53525354)   \
  X(SBI_EXT_DBCN, 0x4442434E)
#define NAMED(name, number) name = (number),
#define NUMBER(name, number) name,
enum Extension : uint64_t { EXTENSIONS(NAMED) };
constexpr uint64_t kExtensions[] = {EXTENSIONS(NUMBER)};
#undef NUMBER
#undef NAMED
#undef EXTENSIONS

enum Error : int64_t {
  SBI_ERR_NOT_SUPPORTED = -2,
  SBI_ERR_INVALID_PARAM = -3,
  SBI_ERR_ALREADY_AVAILABLE = -6,
};

}  // namespace

Work Firmware::call(Cpu& cpu) {
  Thread& thread = *cpu.thread;
  uint64_t* const x = thread.hart.x;
  const uint64_t extension = x[17], function = x[16];
  Answer answer;
  parts_.services.note_progress();
  ++thread.hart.instructions;
  co_await cpu.flow.spend(thread.hart.cost.instruction);
  switch (extension) {
    case SBI_EXT_BASE:
      answer = base(function, x[kA0]);
      break;
    case SBI_EXT_TIME:
      thread.set_timer(x[kA0]);
      break;
    case SBI_EXT_IPI:
      if (!has_valid_mask(x))
        answer.error = SBI_ERR_INVALID_PARAM;
      else
        co_await send(cpu);
      break;
    case SBI_EXT_RFENCE:
      if (!has_valid_mask(x))
        answer.error = SBI_ERR_INVALID_PARAM;
      else
        co_await order(cpu, function, answer);
      break;
    case SBI_EXT_HSM:
      co_await manage(cpu, function, answer);
      break;
    case SBI_EXT_SRST:
      thread.core.end_run(thread, End::Cause::exited, x[kA0 + 1] != 0);
      co_return 0;
    case SBI_EXT_DBCN:
      answer = console(cpu, function);
      break;
    default:
      answer.error = SBI_ERR_NOT_SUPPORTED;
  }
  if (cpu.state != State::started) co_return 0;  // the hart has stopped itself
  x[kA0] = static_cast<uint64_t>(answer.error);
  x[kA0 + 1] = answer.value;
  thread.hart.pc += kEcallBytes;
  co_return 0;
}

Firmware::Answer Firmware::base(uint64_t function, uint64_t extension) const {
  enum : uint64_t {
    SBI_EXT_BASE_GET_SPEC_VERSION,
    SBI_EXT_BASE_GET_IMP_ID,
    SBI_EXT_BASE_GET_IMP_VERSION,
    SBI_EXT_BASE_PROBE_EXT,
    SBI_EXT_BASE_GET_MVENDORID,
    SBI_EXT_BASE_GET_MARCHID,
    SBI_EXT_BASE_GET_MIMPID,
  };
  constexpr uint64_t kVersion = 2 << 24, kImplementation = 0x756e, kOwnVersion = 1;
  switch (function) {
    case SBI_EXT_BASE_GET_SPEC_VERSION:
      return {0, kVersion};
    case SBI_EXT_BASE_GET_IMP_ID:
      return {0, kImplementation};
    case SBI_EXT_BASE_GET_IMP_VERSION:
      return {0, kOwnVersion};
    case SBI_EXT_BASE_PROBE_EXT:
      return {0, std::ranges::count(kExtensions, extension) > 0};
    case SBI_EXT_BASE_GET_MVENDORID:
    case SBI_EXT_BASE_GET_MARCHID:
    case SBI_EXT_BASE_GET_MIMPID:
      return {};
    default:
      return {SBI_ERR_NOT_SUPPORTED, 0};
  }
}

// Returns whether every hart that a call names exists, and the hart at the mask's base exists, too.
bool Firmware::has_valid_mask(const uint64_t* x) const {
  const uint64_t mask = x[kA0], first = x[kA0 + 1];
  if (first == ~uint64_t{0}) return true;
  const uint64_t highest = mask ? 63 - static_cast<uint64_t>(std::countl_zero(mask)) : 0;
  return first < cpus_.size() && highest < cpus_.size() - first;
}

// Returns the harts that a call names: by a mask (a0) and the hart of its lowest bit (a1), or all
// if a1 is -1.
std::vector<uint32_t> Firmware::harts(const uint64_t* x) const {
  std::vector<uint32_t> harts;
  const uint64_t mask = x[kA0], first = x[kA0 + 1];
  for (uint32_t h = 0; h < cpus_.size(); ++h)
    if (first == ~uint64_t{0} || (h - first < 64 && mask >> (h - first) & 1)) harts.push_back(h);
  return harts;
}

Work Firmware::send(Cpu& cpu) {
  for (const uint32_t hart : harts(cpu.thread->hart.x)) co_await cpu.flow.interrupt(hart);
  co_return 0;
}

// Performs a remote fence: sends a request to each hart in turn, and waits until it has fenced.
Work Firmware::order(Cpu& cpu, uint64_t function, Answer& answer) {
  enum : uint64_t { FENCE_I, SFENCE_VMA, SFENCE_VMA_ASID };  // SBI_EXT_RFENCE_REMOTE_...
  const uint64_t* const x = cpu.thread->hart.x;
  if (function > SFENCE_VMA_ASID) {
    answer.error = SBI_ERR_NOT_SUPPORTED;
    co_return 0;
  }
  cpu.order = {.code = function == FENCE_I, .start = x[12], .size = x[13], .asid = {}};
  if (function == SFENCE_VMA_ASID) cpu.order.asid = static_cast<uint16_t>(x[14]);
  for (const uint32_t hart : harts(x)) {
    if (cpus_[hart].state != State::started) continue;
    co_await cpu.flow.ask(fence_register_of(hart));
  }
  co_return 0;
}

Work Firmware::manage(Cpu& cpu, uint64_t function, Answer& answer) {
  if (manage_without_waiting(cpu, function, answer))
    co_await cpu.flow.interrupt(static_cast<uint32_t>(cpu.thread->hart.x[kA0]));
  co_return 0;
}

// Executes a call of the HSM extension. Returns true if it starts another hart, which the caller
// must wake by an interrupt.
bool Firmware::manage_without_waiting(Cpu& cpu, uint64_t function, Answer& answer) {
  enum : uint64_t { HART_START, HART_STOP, HART_GET_STATUS };  // SBI_EXT_HSM_...
  const uint64_t* const x = cpu.thread->hart.x;
  if (function == HART_STOP) {
    stop(cpu);
  } else if (function > HART_GET_STATUS) {
    answer.error = SBI_ERR_NOT_SUPPORTED;
  } else if (x[kA0] >= cpus_.size()) {
    answer.error = SBI_ERR_INVALID_PARAM;
  } else if (Cpu& other = cpus_[x[kA0]]; function == HART_GET_STATUS) {
    answer.value = static_cast<uint64_t>(other.state);
  } else if (other.state != State::stopped) {
    answer.error = SBI_ERR_ALREADY_AVAILABLE;
  } else {
    other.state = State::starting;
    other.entry = x[kA0 + 1];
    other.opaque = x[kA0 + 2];
    return true;
  }
  return false;
}

// Returns whether a range of addresses from a kernel is RAM throughout.
bool Firmware::is_ram(uint64_t address, uint64_t size) const {
  const uint64_t last = address + size - 1;
  return size == 0 || (address >= kRamBase && last >= address && parts_.memory.mapped(address, 1) &&
                       parts_.memory.mapped(last, 1));
}

// Implements the debug console extension (DBCN): writes bytes from a physical address to the
// console, or reads typed input into memory at that address.
Firmware::Answer Firmware::console(Cpu& cpu, uint64_t function) {
  enum : uint64_t { WRITE, READ, WRITE_BYTE };  // SBI_EXT_DBCN_CONSOLE_...
  constexpr std::size_t kMostText = std::size_t{16} << 20;
  const uint64_t* const x = cpu.thread->hart.x;
  const uint64_t size = x[kA0], address = x[kA0 + 1];
  if (parts_.services.console.text.size() > kMostText) {
    give_up(*cpu.thread, "more than 16 MiB written to the console");
    return {};
  }
  if (function == WRITE_BYTE) {
    parts_.services.console.text.push_back(static_cast<char>(x[kA0]));
    return {};
  }
  if (function > WRITE_BYTE) return {SBI_ERR_NOT_SUPPORTED, 0};
  if (!is_ram(address, size)) return {SBI_ERR_INVALID_PARAM, 0};
  return function == WRITE ? write_console(address, size) : read_console(cpu, address, size);
}

// Writes at most kMaxWriteBytes bytes. SBI allows a partial write, and the kernel then writes the
// rest by further calls.
Firmware::Answer Firmware::write_console(uint64_t address, uint64_t size) {
  constexpr uint64_t kMaxWriteBytes = 1 << 16;
  std::string& text = parts_.services.console.text;
  const std::size_t old_size = text.size();
  size = std::min(size, kMaxWriteBytes);
  text.resize(old_size + size);
  parts_.memory.read(address, size, reinterpret_cast<uint8_t*>(text.data() + old_size));
  return {0, size};
}

Firmware::Answer Firmware::read_console(Cpu& cpu, uint64_t address, uint64_t size) {
  uint64_t read = 0;
  for (; read < size && parts_.services.console.is_typed(); ++read) {
    const uint8_t letter = parts_.services.console.take_typed();
    parts_.memory.write(address + read, 1, &letter, cpu.thread->hart.clock);
  }
  return {0, read};
}

}  // namespace uncore
