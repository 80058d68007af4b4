// A core in time: which hart runs, how far, and what waiting costs: nothing.
//
// A hart that spins on lines it can read sleeps (rule S1). While it sleeps those lines are
// *watched*: whoever takes one away or writes to it first brings the sleeper to where executing
// every turn would have brought it, and wakes it. Siblings may go on meanwhile; when the share of
// the issue width changes, sleepers are brought up to that time and their period is corrected.
#include <algorithm>
#include <utility>

#include "core/thread_port.hh"
#include "guest/faults.hh"

namespace uncore {
namespace {

// A hart that neither ends nor meets anybody still comes back, for the watchdog and the user: 1 ms.
constexpr Time kLongestSlice = 1'000'000'000;

}  // namespace

Core::Core(const CoreSurroundings& s, Agent a, Time r)
    : around(s),
      agent(a),
      spec(s.machine.each_core[static_cast<std::size_t>(a)]),
      lines(spec.l1_sets, spec.l1_ways, spec.l2_sets, spec.l2_ways, !s.attribution),
      reach(r),
      capacity_(std::max<std::size_t>(
          1, spec.store_buffer / std::ranges::count(s.machine.hart_cores, agent))) {}

void Core::add_thread(Code& code, uint32_t id) {
  threads.push_back(
      std::make_unique<Thread>(*this, code, id, static_cast<uint32_t>(threads.size())));
  threads.back()->hart.spin_enabled = around.job.sleep;
}

void Core::start() {
  share_issue(0, 0);
  schedule_next();
}

// Harts that execute (spinning ones too) share the issue width; a waiting one gives its share back.
// `at`, `by`: when, and through which thread, the number of active harts may have changed.
void Core::share_issue(Time at, uint32_t by) {
  int active = 0;
  for (const auto& t : threads)
    active += t->mode == Thread::Mode::running || t->mode == Thread::Mode::spinning;
  if (active == active_) return;
  active_ = active;
  ++disturbances;  // a turn of a loop no longer takes what it took
  const Time instruction = spec.instruction * 1000 / (active > 1 ? spec.smt_share : 1000);
  for (const auto& t : threads) {
    Hart<Thread>& hart = t->hart;
    if (t->mode == Thread::Mode::spinning) {
      advance(*t, before(at, by, *t));
      const uint64_t shared = hart.spin_instructions - hart.spin_pauses;
      hart.spin_period += shared * instruction - shared * hart.cost.instruction;
    }
    hart.cost = {instruction, spec.mispredict, spec.pause};
  }
}

void Core::schedule_next() {
  Time next = kNever;
  for (const auto& t : threads)
    if (t->mode == Thread::Mode::running) next = std::min(next, t->hart.clock);
  if (next == kNever || next >= scheduled) return;
  scheduled = next;
  around.queue.push(next, event_place(static_cast<uint64_t>(agent), kCoreClass, 0), 0, Action::run,
                    static_cast<uint32_t>(agent));
}

// How far the core may run at `now` without missing a message (rule S2).
Time Core::horizon(Time now) const {
  const Time next = around.queue.next_time();
  const Time slice = now + std::min(around.job.lookahead, kLongestSlice);
  // Who touches a page first is decided in the order of events.
  const bool early = around.network.in_flight(agent) > 0 || around.map.first_touch();
  const Time apart = early ? 0 : reach;
  const Time free = next < kNever - apart ? next + apart : kNever;
  return std::min({free == 0 ? 0 : free - 1, slice, around.end.time()});
}

void Core::run(Time now) {
  if (now != scheduled) return;
  scheduled = kNever;
  horizon_ = std::max(now, horizon(now));
  for (Turn turn = next_turn(); turn.thread && turn.thread->hart.clock <= horizon_;
       turn = next_turn()) {
    run_thread(*turn.thread, turn.end);
    if (around.end.has_come()) return;
  }
  schedule_next();
}

// Whose turn it is and how far it goes: lowest clock first, lower thread on ties.
Core::Turn Core::next_turn() const {
  Turn turn{nullptr, kNever};
  for (const auto& t : threads) {
    if (t->mode != Thread::Mode::running) continue;
    if (!turn.thread) {
      turn.thread = t.get();
    } else if (t->hart.clock < turn.thread->hart.clock) {  // the others are lower threads
      turn = {t.get(), std::min(turn.end, turn.thread->hart.clock) - 1};
    } else {
      turn.end = std::min(turn.end, t->hart.clock);
    }
  }
  return turn;
}

// Runs one hart up to the horizon, or until it is a sibling's turn.
void Core::run_thread(Thread& thread, Time turn) {
  Hart<Thread>& hart = thread.hart;
  executing_ = &thread;
  if (thread.tries) {
    attempt(thread, hart.clock);
    executing_ = nullptr;
    return;
  }
  hart.horizon = std::min(horizon_, turn);
  hart.undisturbed = thread.ran_at == disturbances;
  const Stop stop = hart.run();
  executing_ = nullptr;
  thread.ran_at = disturbances;
  if (stop != Stop::horizon) [[unlikely]]
    stopped(thread, stop);
}

void Core::stopped(Thread& thread, Stop stop) {
  Hart<Thread>& hart = thread.hart;
  const Thread::Mode mode = thread.mode;
  if (stop != Stop::spin) thread.recording = false;
  switch (stop) {
    case Stop::horizon:
    case Stop::retry:
      break;
    case Stop::later:
      if (around.attribution) around.attribution->stands(thread.id, hart.clock);
      thread.since = hart.clock;
      return waits(thread, hart.clock, thread.index);
    case Stop::wfi:
      thread.mode = Thread::Mode::idle;
      break;
    case Stop::spin:
      spun(thread);
      break;
    case Stop::semihost:
      if (const auto code = around.services.call(thread.id, thread.hart.x))
        end_run(thread, End::Cause::exited, *code);
      break;
    case Stop::fatal:
      end_run(thread, End::Cause::fatal, 0, without_handler(thread.id, hart.fatal));
      break;
  }
  // The share is given back when the last instruction begins: it has retired.
  if (thread.mode != mode) share_issue(hart.clock - hart.cost.instruction, thread.index);
}

void Core::end_run(Thread& thread, End::Cause cause, int code, std::string reason) {
  thread.mode = Thread::Mode::stopped;
  const uint64_t position = agent * around.machine.threads_per_core + thread.index;
  around.end.declare({cause, code, std::move(reason), thread.hart.clock, position});
  shorten(around.end.time());
}

// What a hart has just done may reach its core again at `then`: no hart of the core may pass it.
void Core::shorten(Time then) {
  horizon_ = std::min(horizon_, then);
  if (executing_) executing_->hart.horizon = std::min(executing_->hart.horizon, then);
}

// The last time at which `sleeper` does not yet see what happens at `at` through thread `by`: a
// lower thread goes first on ties (rule H6).
Time Core::before(Time at, uint32_t by, const Thread& sleeper) {
  return sleeper.index < by ? at : at - (at > 0);
}

// A hart repeats itself. One more turn shows which lines it reads; then it sleeps until one of them
// changes.
void Core::spun(Thread& thread) {
  if (!thread.recording) {
    thread.recording = true;
    thread.watched.clear();
    if (around.attribution) around.attribution->turn_begins(thread.id);
    return;
  }
  thread.recording = false;
  if (!thread.buffer.empty()) return;
  for (uint64_t number : thread.watched) {
    const Line* line = lines.find(number);
    if (!line || !line->in_l1 || !around.protocol.may_load(line->copy.state)) return;
  }
  for (uint64_t number : thread.watched) ++lines.find(number)->watchers;
  thread.mode = Thread::Mode::spinning;
  if (around.attribution)
    around.attribution->turn_ends(thread.id,
                                  thread.hart.instructions - thread.hart.spin_instructions);
}

// Brings a sleeper to where executing every turn would have brought it at the end of `horizon`. Its
// last turn is executed where siblings may ask which line was used last.
void Core::advance(Thread& thread, Time horizon) {
  Hart<Thread>& hart = thread.hart;
  if (hart.clock > horizon) return;
  uint64_t turns = (horizon - hart.clock) / hart.spin_period;
  if (turns > 0 && threads.size() > 1) --turns;
  hart.skip(turns);
  if (around.attribution) around.attribution->repeated(thread.id, agent, turns);
  hart.horizon = horizon;
  hart.spin_enabled = false;
  Thread* const other = std::exchange(executing_, &thread);
  const Stop stop = hart.run();
  executing_ = other;
  hart.spin_enabled = true;
  if (stop != Stop::horizon) throw ProtocolError{"a sleeping hart did something"};
}

void Core::wake(Thread& thread, Time horizon) {
  advance(thread, horizon);
  thread.hart.woken();
  thread.mode = Thread::Mode::running;
  for (uint64_t number : thread.watched) --lines.find(number)->watchers;
  runs_again(thread);
}

// A hart may execute from its clock on: after the one that does, if they are siblings.
void Core::runs_again(const Thread& thread) {
  if (!executing_) return schedule_next();
  if (executing_ == &thread) return;
  const Time turn = thread.hart.clock - (thread.index < executing_->index);
  executing_->hart.horizon = std::min(executing_->hart.horizon, turn);
}

// A watched line is about to change at `at`, through thread `by` (0: or a message).
void Core::wake_watchers(const Line& line, Time at, uint32_t by) {
  for (const auto& t : threads)
    if (t->mode == Thread::Mode::spinning && std::ranges::count(t->watched, line.number))
      wake(*t, before(at, by, *t));
}

void Core::wake_sleepers(Time now) {
  for (const auto& t : threads)
    if (t->mode == Thread::Mode::spinning) wake(*t, before(now, 0, *t));
}

void Core::interrupt(const Interrupts::Pending& pending, Time now) {
  Thread& thread = **std::ranges::find(threads, pending.hart, [](const auto& t) { return t->id; });
  shorten(pending.expires);
  if (thread.mode == Thread::Mode::spinning) wake(thread, before(now, 0, thread));
  thread.hart.interrupt(pending.bit, pending.level);
  // A delay ends early; the guest's loop then delays for the rest.
  if (thread.mode == Thread::Mode::running && !thread.tries &&
      thread.hart.clock == thread.delayed_until && thread.hart.clock > now &&
      thread.hart.interruptible())
    thread.hart.clock = now;
  if (thread.mode == Thread::Mode::idle && thread.hart.wakes()) {
    thread.hart.clock = std::max(thread.hart.clock, now);
    thread.mode = Thread::Mode::running;
    share_issue(now, 0);
  }
  if (thread.mode == Thread::Mode::running) runs_again(thread);
}

}  // namespace uncore
