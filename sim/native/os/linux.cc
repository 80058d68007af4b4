#include "os/linux.hh"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "os/calls.hh"
#include "spec/segment_spec.hh"

namespace uncore {
namespace {

constexpr uint64_t kCounters = 7;        // mcounteren: cycle, time, instret
constexpr uint64_t kFloatOn = 1u << 13;  // mstatus.FS is Initial
constexpr uint64_t kEnabled = 1u << 3;   // mstatus.MIE

struct Call {
  uint16_t number;
  const char* name;
  Work (*run)(Linux&, Task&);
  bool is_progress;  // counts as progress for the watchdog (calls.def)
};
constexpr Call kCalls[] = {
#define CALL(number, name) {number, #name, calls::name, false},
#define PROGRESS(number, name) {number, #name, calls::name, true},
#include "os/calls.def"
#undef CALL
#undef PROGRESS
};
static_assert(std::ranges::is_sorted(kCalls, {}, &Call::number));

// Returns the system call with this number, or null.
const Call* find_call(uint64_t number) {
  const auto* const call = std::ranges::lower_bound(kCalls, number, {}, &Call::number);
  return call != std::end(kCalls) && call->number == number ? call : nullptr;
}

constexpr bool is_call(const Fatal& why) {
  return why.cause == kUserEcall || why.cause == kMachineEcall;
}
constexpr bool is_access(const Fatal& why) {
  return why.cause == kFetchFault || why.cause == kLoadFault || why.cause == kStoreFault;
}
constexpr unsigned right_for(const Fatal& why) {
  if (why.cause == kFetchFault) return AddressSpace::execute;
  return why.cause == kStoreFault ? AddressSpace::write : AddressSpace::read;
}
// Returns the signal for a fault other than an access fault.
SignalInfo signal_for(const Fatal& why) {
  if (why.cause == kIllegalInstruction) return {SIGILL, ILL_ILLOPC, why.pc};
  if (why.cause == kBreakpoint) return {SIGTRAP, TRAP_BRKPT, why.pc};
  return {SIGBUS, BUS_ADRALN, why.tval};
}

}  // namespace

const char* Linux::call_of(const Task& task) {
  const Call* const call = task.busy() ? find_call(task.call) : nullptr;
  return call ? call->name : "";
}

Linux::Linux(const LinuxContext& linux_context)
    : context(linux_context),
      locks(context.process().free, context.machine.line),
      timers(context.agents.harts()),
      scheduler(context, locks, timers),
      barriers(context, locks, scheduler),
      memory(context),
      signals(context, tasks, scheduler, memory),
      futexes(context, locks, scheduler, memory, signals),
      files(context.process().files, {reinterpret_cast<const char*>(context.process().name.data()),
                                      context.process().name.size()}),
      limits(context.process().stack_size) {}

Linux::~Linux() {
  for (const auto& task : tasks.all()) task->abandon();
  scheduler.abandon();
  in_flight.clear();
}

void Linux::begin(const std::vector<Thread*>& harts) {
  context.harts = harts;
  for (Thread* const thread : harts) prepare(*thread);
  context.map.place_page(kernel_lines::kSpace >> kUnitShift, context.agents.core_of(0));
  place_program();
  Task& first = tasks.spawn({});
  first.allowed.assign(harts.size(), true);
  first.registers.pc = context.job.entry;
  first.registers.x[kStackPointer] = context.process().stack;
  scheduler.install(0, first);
  harts[0]->mode = Thread::Mode::running;
}

void Linux::prepare(Thread& thread) {
  thread.hart.ram_begin = 0;
  thread.hart.stack = {};
  thread.hart.set_mode(Mode::user);
  thread.hart.write_csr(CsrNumber::mcounteren, kCounters);
  thread.hart.write_csr(CsrNumber::mie, 1u << kSoftware | 1u << kTimer);
  thread.hart.write_csr(CsrNumber::mstatus, kFloatOn | kEnabled);
  thread.mode = Thread::Mode::idle;
  context.map.place_page(kernel_lines::queue(thread.id) >> kUnitShift,
                         context.agents.core_of(thread.id));
}

// Touches the pages of the program's segments, which are in memory from the beginning (K2).
void Linux::place_program() {
  for (const SegmentSpec& segment : context.job.segments)
    for (uint64_t address = segment.address; address < segment.address + segment.data.size();
         address = AddressSpace::down(address) + AddressSpace::kPage) {
      memory.space.touch(address);
      context.map.place_page(address >> kUnitShift, context.agents.core_of(0));
    }
}

void Linux::marked(Thread& thread, unsigned code, uint64_t value) {
  Task* const t = scheduler.current(thread.id);
  if (!t) return;
  if (code == UC_MARK_OP) t->operations += std::max<uint64_t>(1, value);
  if (begins(code)) t->began = std::min(t->began, t->now());
  if (code == UC_MARK_ROI_OFF || code == UC_MARK_OP) t->ended = t->now();
}

void Linux::born(const Task& parent, Task& child) {
  child.born = parent.now();
  const Observed& observed = parent.thread->core.observed;
  if (observed && context.process().unmarked && tasks.alive() == 2)
    observed->note_several_threads(child.born);
}

void Linux::died(Task& task) {
  task.died = task.now();
  const Observed& observed = task.thread->core.observed;
  if (observed && context.process().unmarked && tasks.alive() == 1)
    observed->note_one_thread(task.thread->id, task.died);
}

bool Linux::has_progressed() {
  if (!context.process().unmarked) return false;
  uint64_t retired = 0;
  bool wakes = false;
  for (const Thread* const thread : context.harts) {
    retired += thread->hart.instructions;
    wakes |= timers.next(thread->id) != kNever;
  }
  return std::exchange(retired_, retired) != retired || wakes;
}

void Linux::trapped(Thread& thread) {
  thread.core.locks.end_attempt(thread, thread.hart.clock);  // C7
  thread.hart.woken();
  thread.in_kernel = true;
  thread.kernel_read = 0;
  Task* const task = scheduler.current(thread.id);
  const Fatal why = thread.hart.fatal;
  scheduler.flow(thread.id).take_up(task ? handle(*task, why) : interrupt_idle(thread.id, why));
}

std::optional<Access> Linux::proceed(Thread& thread) {
  Flow& flow = scheduler.flow(thread.id);
  if (!flow.proceed(thread.kernel_read)) {
    if (scheduler.current(thread.id) == &flow) thread.in_kernel = false;
    return std::nullopt;
  }
  thread.hart.clock += flow.pause;
  return flow.next_access;
}

// Handles a task's trap, and then delivers signals and switches tasks as needed before the program
// continues.
Work Linux::handle(Task& t, Fatal why) {
  t.restarts = false;
  if (t.thread->weak) co_await t.fence();  // K4.4
  if (is_call(why))
    co_await call(t);
  else if (why.cause & kInterruptBit)
    co_await interrupt(t, t.hart, why);
  else
    co_await fault(t, why);
  co_await expire_cpu_timers(t, t.hart);
  if (t.restarts || signals.due(t)) co_await signals.deliver(t);
  signals.restore_mask(t);
  co_return co_await scheduler.resume(t);
}

Work Linux::call(Task& t) {
  Hart<Thread>& hart = t.thread->hart;
  t.call = hart.x[17], t.called_at = hart.pc, t.called = hart.clock;  // a7
  std::copy_n(hart.x + 10, 6, t.args.begin());                        // a0 to a5
  const Call* const call = find_call(t.call);
  if (!call && context.process().strict) {
    co_await t.give_up("system call " + std::to_string(t.call) + " is not there, at " +
                       describe(t));
  }
  if (call && call->is_progress) context.services.note_progress();
  ++hart.instructions;
  co_await t.spend(context.process().costs.syscall);
  int64_t value = -ENOSYS;
  if (call)
    value = co_await call->run(*this, t);
  else
    missing.insert(t.call);
  if (in_flight.has_work()) co_await in_flight.finish(*this, t);
  if (value != -EINTR && value != -ERESTARTSYS) signals.restore_mask(t);
  t.restarts = value == -ERESTARTSYS;
  if (t.restarts) value = -EINTR;
  t.x()[10] = static_cast<uint64_t>(value);
  t.thread->hart.pc += kEcallBytes;
  if (context.process().strace) trace(t, value);
  co_return 0;
}

void Linux::trace(const Task& t, int64_t value) {
  char text[256];
  std::snprintf(text, sizeof text,
                "%14.3f us  %u  %s(%#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ", %#" PRIx64
                ") = %" PRId64 "\n",
                static_cast<double>(t.called) / 1e6, t.tid, call_of(t), t.args[0], t.args[1],
                t.args[2], t.args[3], value);
  strace += text;
}

// Handles a fault: makes the page present if its first touch is allowed (K2), else sends a signal.
Work Linux::fault(Task& t, Fatal why) {
  t.call = Task::kNoCall;
  SignalInfo info = signal_for(why);
  if (is_access(why)) {
    const uint64_t address = memory.faulting_address(why.tval);
    const int64_t code = co_await memory.fault(t, address, right_for(why));
    if (code == 0) co_return 0;
    const auto number = static_cast<int32_t>(code);
    info = {SIGSEGV, number, address};
    if (number < 0) info = {SIGBUS, -number, address};
  }
  const int64_t error = co_await signals.force(t, info);
  if (error < 0) {  // no handler, or the signal is blocked: the signal ends the process
    co_await t.give_up(describe(t, why));
  }
  co_return 0;
}

Work Linux::interrupt(Flow& by, uint32_t hart, Fatal why) {
  co_await by.spend(context.machine.interrupt.entry);
  if ((why.cause & ~kInterruptBit) == kSoftware)
    co_await barriers.interrupted(by, hart);
  else
    co_await expire(by, hart);
  co_await by.spend(context.machine.interrupt.exit);
  co_return 0;
}

Work Linux::interrupt_idle(uint32_t hart, Fatal why) {
  scheduler.interrupted(hart);
  co_await interrupt(scheduler.flow(hart), hart, why);
  co_return co_await scheduler.schedule(hart);
}

// Handles all timers of a hart that are due (K8): wakes tasks and sends signals.
Work Linux::expire(Flow& by, uint32_t hart) {
  while (const auto tid = timers.take_due(hart, context.harts[hart]->hart.clock)) {
    if (*tid == Timers::kProcess) {
      timers.repeat_interval(hart);
      scheduler.set_timer(hart);
      co_await signals.send_to_process(by, hart, {SIGALRM, SI_KERNEL});
      continue;
    }
    if (*tid >= Timers::kFirstAlarm) {
      if (const auto alarm = timers.alarm(*tid)) co_await alarm->expire(*this, by, hart);
      continue;
    }
    Task& t = *tasks.find(*tid);
    t.timed_out = true;
    co_await scheduler.wake(by, hart, t);
  }
  scheduler.set_timer(hart);
  co_return 0;
}

Work Linux::expire_cpu_timers(Flow& by, uint32_t hart) {
  for (unsigned i = 0; i < cpu_timers.size(); ++i) {
    CpuTimer& timer = cpu_timers[i];
    if (timer.due == kNever) continue;
    const Time now = tasks.cpu_time(context.harts[hart]->hart.clock);
    if (timer.due > now) continue;
    timer.due = timer.period ? later(now, timer.period) : kNever;
    co_await signals.send_to_process(by, hart, {SIGVTALRM + i, SI_KERNEL});
  }
  co_return 0;
}

}  // namespace uncore
