// What a core's harts do when it is their turn, and what interrupts them.
#include <algorithm>
#include <utility>

#include "core/thread_port.hh"
#include "guest/faults.hh"

namespace uncore {

Core::Core(const CoreSurroundings& s, Agent a, Time reach)
    : around(s),
      agent(a),
      spec(s.machine.each_core[static_cast<std::size_t>(a)]),
      lines(spec.l1_sets, spec.l1_ways, spec.l2_sets, spec.l2_ways,
            !s.attribution && s.job.moves.empty() && spec.order == CoreSpec::Order::tso,
            s.job.boot.present),
      observed(s.attribution, s.trace, agent, s.protocol),
      turns(around, agent, spec, reach, threads, lines),
      draws_(Draws::request, s.job.seed, static_cast<uint64_t>(a), s.job.chance.request),
      hold_play_(spec.hold * s.job.chance.hold / 1000),
      hold_draws_(Draws::hold, s.job.seed, static_cast<uint64_t>(a), 2 * hold_play_),
      capacity_(std::max<std::size_t>(
          1, spec.store_buffer / std::ranges::count(s.machine.hart_cores, agent))) {}

void Core::add_thread(Code& code, uint32_t id) {
  threads.push_back(
      std::make_unique<Thread>(*this, code, id, static_cast<uint32_t>(threads.size())));
  threads.back()->next = threads.front().get();
  if (threads.size() > 1) threads[threads.size() - 2]->next = threads.back().get();
  const bool weak = spec.order == CoreSpec::Order::weak;
  threads.back()->hart.spin_enabled = around.job.sleep;
  if (spec.far_atomics) code.pages.distrust();
  if (weak) threads.back()->hart.whole = kWordBytes;  // H3.4: what it looks back at
  if (weak)
    threads.back()->weak = std::make_unique<Weak>(*around.versions, id, around.job.seed,
                                                  around.job.chance.load, around.job.chance.store);
  const Time most = around.job.chance.start * around.job.placement.size();
  threads.back()->late = Draws(Draws::start, around.job.seed, id, most)(0);
}

void Core::start() {
  turns.share_issue(0, 0);
  turns.schedule_next();
}

void Core::run(Time now) {
  turns.begin(now);
  for (Turns::Turn turn = turns.next(); turn.thread; turn = turns.next()) {
    run_thread(turn);
    if (around.end.has_come()) return;
  }
  turns.schedule_next();
}

void Core::run_thread(const Turns::Turn& turn) {
  if (Thread& thread = *turn.thread; thread.tries) {
    const Turns::As executing(turns, thread);
    return attempt(thread, thread.hart.clock);
  }
  if (turn.thread->in_kernel) [[unlikely]]
    return serve(*turn.thread);
  const auto [thread, why] = turns.execute(turn);
  if (why != Stop::horizon) [[unlikely]]
    stopped(*thread, why);
}

// A hart in the kernel, at an event (core/supervisor.hh).
void Core::serve(Thread& thread) {
  Hart<Thread>& hart = thread.hart;
  if (hart.clock > around.queue.now()) return turns.shorten(hart.clock - 1);
  const Turns::As executing(turns, thread);
  const Thread::Mode mode = thread.mode;
  if (std::optional<Access> wanted = around.supervisor->proceed(thread)) {
    Outcome out;
    if (thread.issue(std::move(*wanted), out) == Answer::later) {
      if (observed) observed->stands(thread.id, hart.clock);
      thread.since = hart.clock;
      return waits(thread, hart.clock, thread.index);
    }
    thread.kernel_read = out.value;
  }
  if (thread.mode != mode) turns.share_issue(hart.clock, thread.index);
}

void Core::stopped(Thread& thread, Stop stop) {
  Hart<Thread>& hart = thread.hart;
  const Thread::Mode mode = thread.mode;
  if (stop != Stop::spin) thread.heeds.recording = false;
  switch (stop) {
    case Stop::horizon:
    case Stop::retry:
      break;
    case Stop::later:
      if (observed) observed.stands(thread);
      thread.since = hart.clock;
      return waits(thread, hart.clock, thread.index);
    case Stop::wfi:
      thread.mode = Thread::Mode::idle;
      if (observed) observed.is(thread, Trace::What::idles, hart.clock);
      break;
    case Stop::spin:
      turns.spun(thread);
      break;
    case Stop::semihost:
      if (const auto code = around.services.call(thread.id, thread.hart.x))
        end_run(thread, End::Cause::exited, *code);
      break;
    case Stop::fatal:
      if (around.supervisor) return around.supervisor->trapped(thread);
      end_run(thread, End::Cause::fatal, 0, without_handler(thread.id, hart.fatal));
      break;
    case Stop::overflow:
      end_run(thread, End::Cause::fatal, 0, stack_overflow(thread.id, hart.stack.size));
      break;
  }
  // The share is given back when the last instruction begins: it has retired.
  if (thread.mode != mode) turns.share_issue(hart.clock - hart.cost.instruction, thread.index);
}

void Core::end_run(Thread& thread, End::Cause cause, int code, std::string reason) {
  thread.mode = Thread::Mode::stopped;
  if (observed && around.job.process.unmarked) observed.marked(thread, UC_MARK_ROI_OFF, 0);
  const uint64_t position = agent * around.machine.threads_per_core + thread.index;
  around.end.declare({cause, code, std::move(reason), thread.hart.clock, position});
  turns.shorten(around.end.time());
}

void Core::interrupt(const Interrupts::Pending& pending, Time now) {
  Thread& thread = **std::ranges::find(threads, pending.hart, [](const auto& t) { return t->id; });
  turns.shorten(pending.expires - 1);
  if (thread.mode == Thread::Mode::spinning) turns.wake(thread, now);
  if (observed && pending.level)
    observed.is(thread, Trace::What::interrupted, now, static_cast<uint64_t>(pending.bit));
  // Where there is a firmware, it hands each interrupt of the machine on to supervisor mode.
  const unsigned bit = around.job.boot.present ? pending.bit - 2 : pending.bit;
  thread.hart.interrupt(bit, pending.level);
  // A delay ends early; the guest's loop then delays for the rest.
  if (thread.mode == Thread::Mode::running && !thread.tries &&
      thread.hart.clock == thread.delayed_until && thread.hart.clock > now &&
      thread.hart.interruptible())
    thread.hart.clock = now;
  if (thread.mode == Thread::Mode::idle && thread.hart.wakes()) {
    thread.hart.clock = std::max(thread.hart.clock, now);
    thread.mode = Thread::Mode::running;
    turns.share_issue(now, 0);
  }
  if (thread.mode == Thread::Mode::running) turns.may_run(thread);
}

}  // namespace uncore
