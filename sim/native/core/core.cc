#include "core/core.hh"

#include <algorithm>
#include <utility>

#include "core/thread_port.hh"
#include "core/tso_stores.hh"
#include "core/weak_stores.hh"
#include "guest/faults.hh"

namespace uncore {
namespace {

// H3.1: the store buffer's entries are divided among all harts of the core, used by the job or not.
std::unique_ptr<Stores> make_stores(Core& core) {
  const auto harts = std::ranges::count(core.context.machine.hart_cores, core.agent);
  const auto capacity = std::max<std::size_t>(1, core.spec.store_buffer / harts);
  if (core.spec.order == CoreSpec::Order::weak) return std::make_unique<WeakStores>(core, capacity);
  return std::make_unique<TsoStores>(core, capacity);
}

}  // namespace

uint64_t Thread::cycle() const { return hart.clock / std::max<uint64_t>(1, core.spec.instruction); }

Core::Core(const CoreContext& s, Agent a, Lookahead lookahead)
    : context(s),
      agent(a),
      spec(s.machine.each_core[static_cast<std::size_t>(a)]),
      lines(LineSize(s.machine.line), spec.l1_sets, spec.l1_ways, spec.l2_sets, spec.l2_ways,
            s.job.moves.empty() && spec.order == CoreSpec::Order::tso, s.job.boot.present,
            s.attribution != nullptr),
      observed(s.attribution, s.trace, s.unwinding, agent, s.protocol),
      turns(*this, std::move(lookahead)),
      stores(make_stores(*this)),
      caches(*this, spec, s.job, agent) {}

void Core::add_thread(Code& code, uint32_t id) {
  code.finds_first_uses |= spec.stall_on_use;
  const JobSpec& job = context.job;
  threads.push_back(
      std::make_unique<Thread>(*this, code, id, static_cast<uint32_t>(threads.size())));
  Thread& thread = *threads.back();
  for (const auto& t : threads) t->hart.reports_pauses = threads.size() > 1;
  thread.next = threads.front().get();
  if (threads.size() > 1) threads[threads.size() - 2]->next = &thread;
  thread.hart.spin_enabled = job.sleep;
  thread.hart.unsplit_bytes = lines.size.bytes();
  if (spec.far_atomics) code.pages.expect_unreported_writes();
  if (spec.order == CoreSpec::Order::weak) {
    // H3.4: a load reads the bytes of a doubleword at one time.
    thread.hart.unsplit_bytes = kWordBytes;
    thread.weak =
        std::make_unique<Weak>(*context.versions, id, job.seed, job.chance.load, job.chance.store);
  }
  const Time max_delay = job.chance.start * job.placement.size();
  thread.start_delay = Draws(Draws::start, job.seed, id, max_delay)(0);
}

// --- the fast path for wide lines and for observed runs

namespace {

// Returns true if the fast path may perform the access: the run is not observed, or the attribution
// has recorded the access as a hit.
bool report_hit(const Thread& t, const Instruction& in, uint64_t line, uint64_t address,
                unsigned size, bool writes, Time now) {
  if (!t.core.observed) return true;
  const LineSize& lines = t.core.lines.size;
  const uint64_t bytes = lines.parts(lines.offset(address), size);
  return t.core.observed.hit(t.id, {line, t.hart.pc_of(in), bytes, !writes, writes}, now);
}

}  // namespace

bool Thread::try_load_large(uint64_t address, unsigned size, Time& now, uint64_t& value,
                            const Instruction& in) {
  const auto report = [&](uint64_t line) {
    return report_hit(*this, in, line, address, size, false, now);
  };
  return fast_load<true>(*this, core.lines.size, address, size, now, value, report);
}

bool Thread::try_store_large(uint64_t address, unsigned size, uint64_t value, Time now,
                             const Instruction& in) {
  const auto report = [&](uint64_t line) {
    return report_hit(*this, in, line, address, size, true, now);
  };
  return fast_store<true>(*this, core.lines.size, address, size, value, now, report);
}

bool Thread::try_reserve_large(uint64_t address, unsigned size, Time& now, uint64_t& value) {
  if (core.observed) return false;
  return fast_reserve<true>(*this, core.lines.size, address, size, now, value);
}

// --- a core

void Core::start() {
  turns.share_issue(0, 0);
  turns.schedule_next();
}

void Core::run(Time now) {
  turns.begin(now);
  for (Turns::Turn turn = turns.next(); turn.thread; turn = turns.next()) {
    run_thread(turn);
    if (context.end.has_come()) return;
  }
  turns.schedule_next();
}

bool Core::counts(Time now) const {
  return std::ranges::any_of(
      threads, [&](const auto& thread) { return context.services.counts(thread->id, now); });
}

uint64_t Core::instructions() const {
  uint64_t all = 0;
  for (const auto& t : threads) all += t->hart.instructions;
  return all;
}

bool Core::run_confined(Time horizon) {
  confined = true;
  turns.begin_until(horizon);
  bool stays = true;
  for (Turns::Turn turn = turns.next(); turn.thread && stays; turn = turns.next()) {
    stays = turn.thread->executes_next();
    if (!stays) break;
    if (turn.thread->hart.ceases_to_pause()) {
      cease_to_pause(*turn.thread);
      continue;
    }
    const auto [thread, why] = turns.execute(turn);
    stays = why == Stop::horizon || why == Stop::spin || why == Stop::pause;
    if (stays && why != Stop::horizon) stopped(*thread, why);
  }
  confined = false;
  return stays;
}

void Core::receive(Packet& packet, Time now) {
  context.network.arrived(agent);
  const Message<Bytes>& m = packet.message;
  if (m.kind == Kind::Value) [[unlikely]] {
    far_atomics.receive_value(m, now);
    return context.network.packets.drop(packet);
  }
  Line* const line = lines.find(m.line);
  if (is_probe(m.kind)) return probes.arrive(packet, line, now);
  caches.receive(packet, line, now);
  context.network.packets.drop(packet);
}

void Core::leave(Thread& thread, Time now) {
  context.network.arrived(agent);
  stores->drain(thread, now);
  turns.schedule_next();
}

void Core::run_thread(const Turns::Turn& turn) {
  if (Thread& thread = *turn.thread; thread.reservation.next_try) {
    const Turns::RunningScope executing(turns, thread);
    return waiting.attempt(thread, thread.hart.clock);
  }
  if (turn.thread->hart.ceases_to_pause()) [[unlikely]]
    return cease_to_pause(*turn.thread);
  if (turn.thread->in_kernel) [[unlikely]]
    return serve(*turn.thread);
  const auto [thread, why] = turns.execute(turn);
  if (why != Stop::horizon) [[unlikely]]
    stopped(*thread, why);
}

// H6.5: ceases to count the hart as pausing, because its last pause instruction is too long ago.
void Core::cease_to_pause(Thread& thread) {
  const Turns::RunningScope executing(turns, thread);
  thread.hart.pausing = false;
  thread.reservation.stalls_from = 0;
  turns.share_issue(thread.hart.clock, thread.index);
}

// Executes the next step of a hart that is in the simulated kernel. A step happens only at an
// event, never ahead of one (core/supervisor.hh).
void Core::serve(Thread& thread) {
  Hart<Thread>& hart = thread.hart;
  if (hart.clock > context.queue.now()) return turns.shorten(hart.clock - 1);
  const Turns::RunningScope executing(turns, thread);
  const Thread::Mode mode = thread.mode;
  if (std::optional<Access> access = context.supervisor->proceed(thread)) {
    Outcome out;
    if (thread.issue(std::move(*access), out) == Answer::later) {
      if (observed) observed->begin_wait(thread.id, hart.clock);
      thread.pending.since = hart.clock;
      return waiting.begin_wait(thread, hart.clock, thread.index);
    }
    thread.kernel_read = out.value;
  }
  if (thread.mode != mode) turns.share_issue(hart.clock, thread.index);
}

void Core::stopped(Thread& thread, Stop stop) {
  Hart<Thread>& hart = thread.hart;
  const Thread::Mode mode = thread.mode;
  if (stop != Stop::spin) thread.slow_path.recording = false;
  switch (stop) {
    case Stop::horizon:
    case Stop::retry:
      break;
    case Stop::later:
      if (observed) observed.began_waiting(thread);
      thread.pending.since = hart.clock;
      return waiting.begin_wait(thread, hart.clock, thread.index);
    case Stop::wfi:
      thread.mode = Thread::Mode::idle;
      if (observed) observed.record(thread, Trace::What::idles, hart.clock);
      break;
    case Stop::spin:
      if (!sleep.begin_recording(thread)) sleep.sleep(thread);
      break;
    case Stop::awaits:
    case Stop::awaits_shortly:
      return waiting.begin_stall(thread, stop == Stop::awaits_shortly);
    case Stop::pause: {
      const Turns::RunningScope executing(turns, thread);
      return turns.share_issue(hart.clock - hart.cost.pause, thread.index);
    }
    case Stop::semihost:
      if (const auto code = context.services.call(thread.id, thread.hart.x))
        end_run(thread, End::Cause::exited, *code);
      break;
    case Stop::fatal:
      if (context.supervisor) return context.supervisor->trapped(thread);
      end_run(thread, End::Cause::fatal, 0, without_handler(thread.id, hart.fatal));
      break;
    case Stop::overflow:
      end_run(thread, End::Cause::fatal, 0, stack_overflow(thread.id, hart.stack.size));
      break;
  }
  // H6.2: the issue share changes at the start of the last instruction, but the hart's clock is
  // already at the end of that instruction.
  if (thread.mode != mode) turns.share_issue(hart.clock - hart.cost.instruction, thread.index);
}

void Core::end_run(Thread& thread, End::Cause cause, int code, std::string reason) {
  thread.mode = Thread::Mode::stopped;
  if (observed && context.job.process.unmarked) observed.finished(thread);
  // T4.2: if several harts end the run at one time, the lower hart counts.
  const uint64_t position = agent * context.machine.threads_per_core + thread.index;
  context.end.declare({cause, code, std::move(reason), thread.hart.clock, position});
  turns.shorten(context.end.time());
}

void Core::interrupt(const Interrupts::Pending& pending, Time now) {
  Thread& thread = **std::ranges::find(threads, pending.hart, [](const auto& t) { return t->id; });
  turns.shorten(pending.expires - 1);
  if (thread.mode == Thread::Mode::spinning) sleep.wake(thread, now);
  if (observed && pending.level)
    observed.record(thread, Trace::What::interrupted, now, static_cast<uint64_t>(pending.bit));
  // A firmware forwards each machine interrupt to supervisor mode, whose pending bit is two below.
  const unsigned bit = context.job.boot.present ? pending.bit - 2 : pending.bit;
  thread.hart.interrupt(bit, pending.level);
  // H7: an interrupt ends a delay early. The guest's loop then delays for the remaining time.
  if (thread.mode == Thread::Mode::running && !thread.reservation.next_try &&
      thread.hart.clock == thread.delayed_until && thread.hart.clock > now &&
      thread.hart.interruptible())
    thread.hart.clock = now;
  if (thread.hart.wakes()) waiting.end_stall(thread, now);
  if (thread.mode == Thread::Mode::idle && thread.hart.wakes()) {
    thread.hart.clock = std::max(thread.hart.clock, now);
    thread.mode = Thread::Mode::running;
    turns.share_issue(now, 0);
  }
  if (thread.mode == Thread::Mode::running) turns.let_run(thread);
}

}  // namespace uncore
