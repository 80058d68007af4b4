#include "core/turns.hh"

#include <algorithm>
#include <utility>

#include "core/thread_port.hh"

namespace uncore {
namespace {

// A hart that neither ends nor meets anybody still comes back, for the watchdog and the user: 0.1
// ms.
constexpr Time kLongestSlice = 100'000'000;

constexpr Time later(Time when, Time by) { return when < kNever - by ? when + by : kNever; }

}  // namespace

void Turns::schedule_next() {
  Time next = kNever;
  for (const auto& t : threads_)
    if (t->mode == Thread::Mode::running) next = std::min(next, t->hart.clock);
  around_.queue.schedule(static_cast<uint32_t>(core_), next);
}

// How far the core may run at `now` without missing a message (rule S2), or a timer of its harts.
Time Turns::horizon(Time now) const {
  const Time slice = now + std::min(around_.job.lookahead, kLongestSlice);
  // Who touches a page first is decided in the order of events.
  const Time apart = around_.map.first_touch() ? 0 : reach_;
  const bool expects = around_.network.in_flight(core_) > 0;
  const Time by_message = expects ? around_.queue.next_message(static_cast<uint64_t>(core_), apart)
                                  : later(around_.queue.next_message(), apart);
  const Time by_run = later(around_.queue.next_run(), apart);
  Time due = kNever;
  if (around_.interrupts.any_due())
    for (const auto& t : threads_) due = std::min(due, around_.interrupts.due(t->id));
  const Time free = std::min(by_message, by_run);
  return std::min({free == 0 ? 0 : free - 1, due - 1, slice, around_.end.time()});
}

// Whose turn it is and how far it goes: lowest clock first, lower thread on ties.
Turns::Turn Turns::next() const {
  Turn turn{nullptr, kNever};
  for (const auto& t : threads_) {
    if (t->mode != Thread::Mode::running) continue;
    if (!turn.thread) {
      turn.thread = t.get();
    } else if (t->hart.clock < turn.thread->hart.clock) {  // the others are lower threads
      turn = {t.get(), std::min(turn.end, turn.thread->hart.clock) - 1};
    } else {
      turn.end = std::min(turn.end, t->hart.clock);
    }
  }
  if (turn.thread && turn.thread->hart.clock > horizon_) turn.thread = nullptr;
  return turn;
}

[[gnu::noinline]] Stop Turns::run(Thread& thread) {
  return thread.weak ? thread.hart.run_viewed(thread.weak->views) : thread.hart.run();
}

Turns::Stopped Turns::execute(const Turn& turn) {
  const As executing(*this, *turn.thread);
  if (threads_.size() == 2 && !turn.thread->weak) return alternate(turn);
  turn.thread->hart.horizon = std::min(horizon_, turn.end);
  turn.thread->hart.undisturbed = turn.thread->ran_at == disturbances_;
  const Stop stop = run(*turn.thread);
  turn.thread->ran_at = disturbances_;
  return {turn.thread, stop};
}

// Siblings' turns are an instruction or two long, so the interpreter is here, not called.
Turns::Stopped Turns::alternate(const Turn& turn) {
  Thread *thread = turn.thread, *other = threads_[1 - thread->index].get();
  Instruction *at = nullptr, *other_at = nullptr;
  for (Time end = turn.end;;) {
    Hart<Thread>& hart = thread->hart;
    hart.horizon = std::min(horizon_, end);
    const Stop stop = hart.run_from(at, thread->ran_at == disturbances_);
    thread->ran_at = disturbances_;
    if (stop != Stop::horizon || !other->goes_on() || other->hart.clock > horizon_)
      return {thread, stop};
    end = hart.clock - (thread->index < other->index);
    std::swap(thread, other);
    std::swap(at, other_at);
    executing_ = thread;
  }
}

void Turns::shorten(Time then) {
  horizon_ = std::min(horizon_, then);
  if (executing_) executing_->hart.horizon = std::min(executing_->hart.horizon, then);
}

void Turns::may_run(const Thread& thread) {
  if (!executing_) return schedule_next();
  if (executing_ == &thread) return;
  const Time turn = thread.hart.clock - (thread.index < executing_->index);
  executing_->hart.horizon = std::min(executing_->hart.horizon, turn);
}

// Harts that execute (spinning ones too) share the issue width; a waiting one gives its share back.
void Turns::share_issue(Time at, uint32_t by) {
  int active = 0;
  for (const auto& t : threads_)
    active += t->mode == Thread::Mode::running || t->mode == Thread::Mode::spinning;
  if (active == active_) return;
  active_ = active;
  disturb();  // a turn of a loop no longer takes what it took
  const Time instruction = shared(spec_.instruction);
  for (const auto& t : threads_) {
    Hart<Thread>& hart = t->hart;
    if (t->mode == Thread::Mode::spinning) {
      advance(*t, before(at, by, *t));
      const uint64_t shared = hart.spin_instructions - hart.spin_pauses;
      hart.spin_period += shared * instruction - shared * hart.cost.instruction;
    }
    hart.cost = {instruction, spec_.mispredict, spec_.pause};
  }
}

// --- sleep --------------------------------------------------------------------------------------

// The last time at which `sleeper` does not yet see what happens at `at` through thread `by`: a
// lower thread goes first on ties (rule H6).
Time Turns::before(Time at, uint32_t by, const Thread& sleeper) {
  return sleeper.index < by ? at : at - (at > 0);
}

// One more turn shows which lines it reads, and that all of them are in the first level; then it
// sleeps until one of them changes. Stores that wait in its buffer change nothing that it reads.
void Turns::spun(Thread& thread) {
  const bool repeats = !thread.weak || thread.weak->repeats(thread.hart.pc);
  if (!thread.heeds.recording || thread.varies || !repeats) {
    thread.heeds.recording = true;
    thread.varies = false;
    thread.watched.clear();
    thread.locks = false;
    if (around_.attribution) around_.attribution->turn_begins(thread.id);
    return;
  }
  thread.heeds.recording = false;
  if (thread.weak && !thread.buffer.empty()) return;
  for (uint64_t number : thread.watched) {
    const Line* line = lines_.find(number);
    if (!line || !line->in_l1 || !around_.protocol.may_load(line->copy.state)) return;
    if (thread.locks && !locks_alone(*line)) return;
  }
  for (uint64_t number : thread.watched) lines_.watch(number);
  thread.mode = Thread::Mode::spinning;
  if (around_.attribution)
    around_.attribution->turn_ends(thread.id,
                                   thread.hart.instructions - thread.hart.spin_instructions);
  if (around_.trace)
    around_.trace->hart({thread.hart.clock, thread.id, Trace::What::sleeps, thread.hart.pc,
                         thread.watched.empty() ? 0 : thread.watched[0] << kLineShift});
}

// May a hart lock the line again and again, and nobody waits for it? Whoever begins to wakes it.
bool Turns::locks_alone(const Line& line) const {
  const auto waits = [](const auto& t) { return t->tries > 0; };
  return around_.protocol.may_store(line.copy.state) && line.stalled == 0 &&
         std::ranges::none_of(threads_, waits);
}

// Brings a sleeper to where executing every turn would have brought it at the end of `horizon`. Its
// last turn is executed: siblings, and stores that leave its buffer, ask which line was used last.
void Turns::advance(Thread& thread, Time horizon) {
  Hart<Thread>& hart = thread.hart;
  if (hart.clock > horizon) return;
  uint64_t turns = (horizon - hart.clock) / hart.spin_period;
  if (turns > 0) --turns;
  hart.skip(turns);
  if (around_.attribution) around_.attribution->repeated(thread.id, core_, turns);
  hart.horizon = horizon;
  hart.spin_enabled = false;
  Thread* const other = std::exchange(executing_, &thread);
  const Stop stop = run(thread);
  executing_ = other;
  hart.spin_enabled = true;
  if (stop != Stop::horizon) throw ProtocolError{"a sleeping hart did something"};
}

void Turns::wake_until(Thread& thread, Time horizon) {
  advance(thread, horizon);
  thread.hart.woken();
  if (around_.attribution) around_.attribution->path.woken(thread.id, horizon);
  if (around_.trace)
    around_.trace->hart({horizon, thread.id, Trace::What::wakes, thread.hart.pc, 0});
  thread.mode = Thread::Mode::running;
  for (uint64_t number : thread.watched) lines_.unwatch(number);
  may_run(thread);
}

void Turns::wake_watchers(const Line& line, Time at) {
  for (const auto& t : threads_)
    if (t->mode == Thread::Mode::spinning && std::ranges::count(t->watched, line.number))
      wake_until(*t, before(at, actor(), *t));
}

void Turns::wake_lockers(const Line& line, Time at) {
  for (const auto& t : threads_)
    if (t->mode == Thread::Mode::spinning && t->locks && t.get() != executing_ &&
        std::ranges::count(t->watched, line.number))
      wake_until(*t, before(at, actor(), *t));
}

void Turns::wake_all(Time at) {
  for (const auto& t : threads_)
    if (t->mode == Thread::Mode::spinning) wake(*t, at);
}

void Turns::advance_readers(uint64_t number, Time at) {
  const auto reads = [&](const auto& t) {
    return t->mode == Thread::Mode::spinning &&
           std::ranges::any_of(t->watched, [&](uint64_t w) { return lines_.together(w, number); });
  };
  if (std::ranges::none_of(threads_, reads)) return;
  for (const auto& t : threads_)
    if (t->mode == Thread::Mode::spinning) advance(*t, before(at, actor(), *t));
}

}  // namespace uncore
