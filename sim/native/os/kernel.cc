#include "os/kernel.hh"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>

#include "core/thread_port.hh"
#include "os/errors.hh"

namespace uncore {
namespace {

constexpr uint64_t kUserEcall = 8;
constexpr uint64_t kCounters = 7;        // cycle, time, instret
constexpr uint64_t kFloatOn = 1u << 13;  // mstatus.FS
constexpr uint64_t kNoCallAtAll = ~uint64_t{0};
constexpr uint64_t kBucketsEach = 256;  // for each processor, as kernel/futex.c has them

constexpr bool is_call(const Fatal& why) {
  return why.cause == kUserEcall || why.cause == kMachineEcall;
}
constexpr bool is_access(const Fatal& why) {
  return why.cause == kFetchFault || why.cause == kLoadFault || why.cause == kStoreFault;
}

}  // namespace

Kernel::Kernel(const Parts& p)
    : parts(p),
      process(p.job.process),
      files(process.files),
      program_break(process.heap),
      buckets(std::bit_ceil(kBucketsEach * p.agents.harts())),
      harts_(p.agents.harts()) {
  for (const AreaSpec& area : process.areas)
    space.map(area.address, area.address + area.size, area.rights);
}

void Kernel::begin(const std::vector<Thread*>& threads) {
  for (uint32_t h = 0; h < harts_.size(); ++h) {
    Thread& thread = *threads[h];
    harts_[h].thread = &thread;
    thread.hart.ram = 0;
    thread.hart.stack = {};
    thread.hart.set_mode(Mode::user);
    thread.hart.write_csr(CsrNumber::mcounteren, kCounters);
    thread.hart.write_csr(CsrNumber::mie, 1u << kSoftware | 1u << kTimer);
    thread.hart.write_csr(CsrNumber::mstatus, kFloatOn | 1u << 3);
    thread.mode = Thread::Mode::idle;
    parts.map.place_page(queue_line(h) >> kLineShift, parts.agents.core_of(h));
  }
  for (uint64_t b = 0; b < buckets.size(); b += kLineBytes)
    parts.map.place_page((kBuckets >> kLineShift) + b, parts.agents.core_of(b / 64 % harts()));
  parts.map.place_page(kSpaceLock >> kLineShift, parts.agents.core_of(0));
  for (const SegmentSpec& segment : parts.job.segments)  // a program file is in memory
    for (uint64_t at = segment.address; at < segment.address + segment.data.size();
         at = AddressSpace::down(at) + AddressSpace::kPage) {
      space.touch(at);
      parts.map.place_page(at >> kLineShift, parts.agents.core_of(0));
    }
  Task& first = spawn({});
  first.allowed.assign(harts(), true);
  first.registers.pc = parts.job.entry;
  first.registers.x[2] = process.stack;
  install(harts_[0], first);
  harts_[0].thread->mode = Thread::Mode::running;
}

bool Kernel::mapped(uint64_t address, unsigned size) const {
  return space.present(address) && space.present(address + size - 1);
}

void Kernel::marked(Thread& thread, unsigned code, uint64_t value) {
  Task* const t = hart_of(thread).current;
  if (!t) return;
  if (code == UC_MARK_OP) t->operations += std::max<uint64_t>(1, value);
  if (begins(code)) t->began = std::min(t->began, thread.hart.clock);
  if (code == UC_MARK_ROI_OFF || code == UC_MARK_OP) t->ended = thread.hart.clock;
}

Registers Kernel::registers_of(const Task& t) const {
  if (t.state != Task::State::running) return t.registers;
  Registers found;
  std::ranges::copy(on(t).hart.x, found.x);
  found.pc = on(t).hart.pc;
  on(t).hart.read_csr(kFcsr, found.fcsr);
  return found;
}

// ---- traps

void Kernel::trapped(Thread& thread) {
  Cpu& h = hart_of(thread);
  thread.hart.woken();
  thread.in_kernel = true;
  thread.kernel_read = 0;
  const Fatal why = thread.hart.fatal;
  if (h.current)
    h.current->take_up(handle(*h.current, why));
  else
    h.flow.take_up(idle_interrupt(h, why));
}

std::optional<Access> Kernel::proceed(Thread& thread) {
  Cpu& h = hart_of(thread);
  Flow& flow = flow_of(h);
  if (!flow.proceed(thread.kernel_read)) {
    if (h.current == &flow) thread.in_kernel = false;
    return std::nullopt;
  }
  thread.hart.clock += flow.pause;
  return flow.wanted;
}

// What a task traps for, and on its way back to the program whatever is due.
Work Kernel::handle(Task& t, Fatal why) {
  if (is_call(why))
    co_await call(t);
  else if (why.cause & kInterruptBit)
    co_await interrupt(t, harts_[t.hart], why);
  else
    co_await fault(t, why);
  if (t.pending & ~t.blocked) co_await deliver(t);
  if (!t.allowed[t.hart]) co_await migrate(t);
  co_return co_await tick(t);
}

Work Kernel::call(Task& t) {
  Hart<Thread>& hart = on(t).hart;
  t.call = hart.x[17], t.called_at = hart.pc, t.called = hart.clock;
  std::copy_n(hart.x + 10, 6, t.a.begin());
  const Call* const known = call_of(t.call);
  if (!known) {
    give_up(on(t),
            "system call " + std::to_string(t.call) + " is not there, at " + describe(t, {}));
    co_await t.leave();
  }
  if (known->shows_life) parts.services.lives();
  ++hart.instructions;
  co_await t.spend(process.costs.syscall);
  const int64_t value = co_await known->run(*this, t);
  x(t)[10] = static_cast<uint64_t>(value);
  on(t).hart.pc += kEcallBytes;
  if (process.strace) trace(t, value, t.called);
  co_return 0;
}

void Kernel::trace(Task& t, int64_t value, Time began) {
  char text[256];
  std::snprintf(text, sizeof text,
                "%14.3f us  %u  %s(%#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ", %#" PRIx64
                ") = %" PRId64 "\n",
                static_cast<double>(began) / 1e6, t.tid, call_of(t.call)->name, t.a[0], t.a[1],
                t.a[2], t.a[3], value);
  strace += text;
}

// A page that is touched for the first time, or what a program must not do.
Work Kernel::fault(Task& t, Fatal why) {
  t.call = kNoCallAtAll;
  const auto area = space.area_at(why.tval);
  const unsigned needs = why.cause == kFetchFault   ? AddressSpace::execute
                         : why.cause == kStoreFault ? AddressSpace::write
                                                    : AddressSpace::read;
  if (is_access(why) && area && (area->rights & needs)) {
    // An access that crosses into the next page names its first byte.
    const uint64_t page = space.present(why.tval) ? why.tval + AddressSpace::kPage : why.tval;
    co_await t.spend(process.costs.fault);
    if (co_await reach(t, page, 1) == 0) co_return 0;
  }
  const unsigned number = is_access(why)                     ? kSegmentationViolation
                          : why.cause == kIllegalInstruction ? kIllegal
                          : why.cause == kBreakpoint         ? kTrap
                                                             : kBusError;
  const Action& action = actions[number];
  if (action.handler <= 1) {
    give_up(on(t), describe(t, why));
    co_await t.leave();
  }
  t.pending |= uint64_t{1} << (number - 1);
  t.blocked &= ~(uint64_t{1} << (number - 1));
  co_return 0;
}

std::string Kernel::describe(const Task& t, const Fatal& why) const {
  static constexpr const char* kWhat[] = {"a misaligned jump",
                                          "a jump to memory that is not mapped",
                                          "an instruction that is not there",
                                          "a breakpoint",
                                          "a misaligned load",
                                          "a load from memory that is not mapped",
                                          "a misaligned store or atomic",
                                          "a store to memory that is not mapped or not writable"};
  char text[160];
  const uint64_t pc = why.cause ? why.pc : t.called_at;
  if (why.cause == 0 || why.cause >= std::size(kWhat))
    std::snprintf(text, sizeof text, "%#" PRIx64 " (thread %u)", pc, t.tid);
  else
    std::snprintf(text, sizeof text, "%s at %#" PRIx64 " (thread %u, address %#" PRIx64 ")",
                  kWhat[why.cause], pc, t.tid, why.tval);
  return text;
}

void Kernel::end(Task& t, int code) { on(t).core.end_run(on(t), End::Cause::exited, code); }

void Kernel::give_up(Thread& thread, std::string why) {
  thread.core.end_run(thread, End::Cause::fatal, 0, std::move(why));
}

// ---- locks

Work Kernel::lock(Flow& by, uint64_t line) {
  if (process.free) co_return 0;
  for (;;) {
    const uint64_t taken = co_await by.amo(Amo::swap, line, 4, 1);
    if (!taken) co_return 0;
    for (uint64_t still = 1; still;) {
      co_await by.spend(kPoll);
      still = co_await by.load(line, 4);
    }
  }
}

Work Kernel::unlock(Flow& by, uint64_t line) {
  if (!process.free) co_await by.store(line, 4, 0);
  co_return 0;
}

std::size_t Kernel::bucket_of(uint64_t address) const {
  return (address * 0x9E3779B97F4A7C15u >> 32) & (buckets.size() - 1);
}

}  // namespace uncore
