// Calls of the firmware, and the harts that make them.
#include "sbi/firmware.hh"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "core/thread_port.hh"

namespace uncore {
namespace {

constexpr unsigned kA0 = 10, kEcallBytes = 4;

// What supervisor mode takes itself: all traps but its own calls, and its three interrupts.
constexpr uint64_t kTraps = 0xb1ff, kInterrupts = 0x222, kSoftwareInterrupt = 1 << 1;

// Numbers of CSRs.
constexpr unsigned kSie = 0x104, kStvec = 0x105, kSstatus = 0x100, kSip = 0x144, kSatp = 0x180,
                   kScounteren = 0x106, kMedeleg = 0x302, kMideleg = 0x303, kMcounteren = 0x306;
constexpr uint64_t kEnabled = 1 << 1;  // SIE of sstatus
// Cycles, time and instructions: a kernel leaves it to its firmware who may read them.
constexpr uint64_t kCounters = 7;

// A page of registers that only the firmware knows: each orders a hart.
constexpr uint64_t order_of(uint32_t hart) { return kOrders + 4 * uint64_t{hart}; }

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
    hart.write_csr(kMedeleg, kTraps);
    hart.write_csr(kMideleg, kInterrupts);
    hart.write_csr(kMcounteren, kCounters);
    hart.write_csr(kScounteren, kCounters);
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

// It begins in supervisor mode, with physical addresses and without interrupts.
void Firmware::start(Cpu& cpu) {
  Hart<Thread>& hart = cpu.thread->hart;
  hart.write_csr(kSatp, 0);
  hart.write_csr(kSie, 0);
  hart.write_csr(kSip, 0);
  hart.write_csr(kSstatus, 0);
  hart.set_mode(Mode::supervisor);
  hart.x[kA0] = cpu.thread->id;
  hart.x[kA0 + 1] = cpu.opaque;
  hart.pc = cpu.entry;
  cpu.state = State::started;
}

// Until another hart starts it: it sleeps, and an interrupt brings it here, for it has no handler.
void Firmware::stop(Cpu& cpu) {
  Hart<Thread>& hart = cpu.thread->hart;
  hart.write_csr(kStvec, 0);
  hart.write_csr(kSie, kSoftwareInterrupt);
  hart.write_csr(kSip, 0);
  hart.write_csr(kSstatus, kEnabled);
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

// Another hart waits until this one has forgotten what it was told to.
void Firmware::ordered(Thread& by, Thread& thread, Time now) {
  constexpr uint64_t kFew = 64;  // pages that are forgotten one by one
  const Order& order = cpus_[by.id].order;
  if (thread.mode == Thread::Mode::spinning) thread.core.sleep.wake(thread, now);
  if (order.code) return thread.hart.forget_code();
  if (order.size > kFew * kPageBytes || order.size == 0)
    return thread.hart.flush(std::nullopt, order.asid);
  for (uint64_t at = order.start; at < order.start + order.size; at += kPageBytes)
    thread.hart.flush(at, order.asid);
}

// ---- calls

namespace {

// Of each: what it is called here, and its number.
#define EXTENSIONS(X)   \
  X(kBase, 0x10)        \
  X(kTime, 0x54494D45)  \
  X(kIpi, 0x735049)     \
  X(kFence, 0x52464E43) \
  X(kHarts, 0x48534D)   \
  X(kReset, 0x53525354) \
  X(kConsole, 0x4442434E)
#define NAMED(name, number) name = (number),
#define NUMBER(name, number) name,
enum Extension : uint64_t { EXTENSIONS(NAMED) };
constexpr uint64_t kExtensions[] = {EXTENSIONS(NUMBER)};
#undef NUMBER
#undef NAMED
#undef EXTENSIONS

constexpr int64_t kNotSupported = -2, kInvalid = -3, kBadAddress = -5, kAlready = -6;

}  // namespace

Work Firmware::call(Cpu& cpu) {
  Thread& thread = *cpu.thread;
  uint64_t* const x = thread.hart.x;
  const uint64_t extension = x[17], function = x[16];
  Answer answer;
  parts_.services.lives();
  ++thread.hart.instructions;
  co_await cpu.flow.spend(thread.hart.cost.instruction);
  switch (extension) {
    case kBase:
      answer = base(function, x[kA0]);
      break;
    case kTime:
      thread.set_timer(x[kA0]);
      break;
    case kIpi:
      co_await send(cpu, answer);
      break;
    case kFence:
      co_await order(cpu, function, answer);
      break;
    case kHarts:
      co_await manage(cpu, function, answer);
      break;
    case kReset:
      thread.core.end_run(thread, End::Cause::exited, x[kA0 + 1] != 0);
      co_return 0;
    case kConsole:
      answer = console(cpu, function);
      break;
    default:
      answer.error = kNotSupported;
  }
  if (cpu.state != State::started) co_return 0;  // it has stopped itself
  x[kA0] = static_cast<uint64_t>(answer.error);
  x[kA0 + 1] = answer.value;
  thread.hart.pc += kEcallBytes;
  co_return 0;
}

Firmware::Answer Firmware::base(uint64_t function, uint64_t asked) const {
  constexpr uint64_t kVersion = 2 << 24, kImplementation = 0x756e, kOwnVersion = 1;
  switch (function) {
    case 0:
      return {0, kVersion};
    case 1:
      return {0, kImplementation};
    case 2:
      return {0, kOwnVersion};
    case 3:
      return {0, std::ranges::count(kExtensions, asked) > 0};
    case 4:
    case 5:
    case 6:
      return {};  // who made the machine: nobody
    default:
      return {kNotSupported, 0};
  }
}

// The harts that a call names: a mask and where it begins, or all.
std::vector<uint32_t> Firmware::harts(const uint64_t* x) const {
  std::vector<uint32_t> found;
  const uint64_t mask = x[kA0], first = x[kA0 + 1];
  for (uint32_t h = 0; h < cpus_.size(); ++h)
    if (first == ~uint64_t{0} || (h - first < 64 && mask >> (h - first) & 1)) found.push_back(h);
  return found;
}

Work Firmware::send(Cpu& cpu, Answer&) {
  for (const uint32_t hart : harts(cpu.thread->hart.x))
    co_await cpu.flow.interrupt(hart);
  co_return 0;
}

// Each hart is asked by a message, and answers when it has forgotten.
Work Firmware::order(Cpu& cpu, uint64_t function, Answer& to) {
  const uint64_t* const x = cpu.thread->hart.x;
  if (function > 2) {
    to.error = kNotSupported;
    co_return 0;
  }
  cpu.order = {.code = function == 0, .start = x[12], .size = x[13], .asid = {}};
  if (function == 2) cpu.order.asid = static_cast<uint16_t>(x[14]);
  for (const uint32_t hart : harts(x)) {
    if (cpus_[hart].state != State::started) continue;
    co_await cpu.flow.ask(order_of(hart));
  }
  co_return 0;
}

Work Firmware::manage(Cpu& cpu, uint64_t function, Answer& to) {
  const uint64_t* const x = cpu.thread->hart.x;
  if (function == 1) {
    stop(cpu);
    co_return 0;
  }
  if (function > 2) {
    to.error = kNotSupported;
    co_return 0;
  }
  if (x[kA0] >= cpus_.size()) {
    to.error = kInvalid;
    co_return 0;
  }
  Cpu& other = cpus_[x[kA0]];
  if (function == 2) {
    constexpr uint64_t kAnswers[] = {0, 1, 2};  // by State
    to.value = kAnswers[static_cast<std::size_t>(other.state)];
  } else if (other.state != State::stopped) {
    to.error = kAlready;
  } else {
    other.state = State::starting;
    other.entry = x[kA0 + 1];
    other.opaque = x[kA0 + 2];
    co_await cpu.flow.interrupt(static_cast<uint32_t>(x[kA0]));
  }
  co_return 0;
}

// Bytes at physical addresses; what is read comes from the job.
Firmware::Answer Firmware::console(Cpu& cpu, uint64_t function) {
  const uint64_t* const x = cpu.thread->hart.x;
  std::string& text = parts_.services.console.text;
  if (function == 2) {
    text.push_back(static_cast<char>(x[kA0]));
    return {};
  }
  const uint64_t address = x[kA0 + 1];
  const uint64_t size = x[kA0];
  if (function > 2) return {kNotSupported, 0};
  if (size > 0 &&
      !(parts_.memory.mapped(address, 1) && parts_.memory.mapped(address + size - 1, 1)))
    return {kBadAddress, 0};
  if (function == 0) {
    const std::size_t before = text.size();
    text.resize(before + size);
    parts_.memory.read(address, size, reinterpret_cast<uint8_t*>(text.data() + before));
    return {0, size};
  }
  uint64_t read = 0;
  for (; read < size && parts_.services.console.is_typed(); ++read) {
    const uint8_t letter = parts_.services.console.hear();
    parts_.memory.write(address + read, 1, &letter, cpu.thread->hart.clock);
  }
  return {0, read};
}

}  // namespace uncore
