// The accesses of a core's harts: performed now, or left pending (rules H3 to H5).
#include "core/core.hh"

#include <utility>

namespace uncore {
namespace {

constexpr ClientEvent wish_of(const Access& a, const CoreSpec& spec) {
  if (a.kind == Access::Kind::load) return ClientEvent::Load;
  if (a.kind == Access::Kind::lr && !spec.lr_exclusive) return ClientEvent::Load;
  if (a.operates() && spec.far_atomics) return ClientEvent::Amo;
  return ClientEvent::Store;
}

}  // namespace

bool Core::perform(Thread& thread, const Access& a, Time now, Outcome& out) {
  using K = Access::Kind;
  if (thread.asked) return false;
  if (thread.weak) {
    if (thread.weak->waits(a, thread.buffer)) return false;
    if (a.kind == K::store) return store_weakly(thread, a, now);
    if (a.kind == K::fence) thread.weak->fence(a.order >> 4, a.order & 15, thread.buffer, now);
  } else {
    if (a.posted && spec.far_atomics && goes_far(a.line())) return post(thread, a, now);
    if (a.drains() && !thread.buffer.empty()) return false;
  }
  switch (a.kind) {
    case K::none:
    case K::fence:
      return true;
    case K::write:
    case K::read:
      return reach_register(thread, a, now, out);
    case K::store:
      return store(thread, a, now, out);
    case K::load:
      return load(thread, a, now, out);
    case K::sc:
      if (thread.reservation == a.line()) return in_cache(thread, a, now, out);
      return fail(thread, a, now, out);
    default:
      return begin_atomic(thread, a, now, out);
  }
}

// A register of another core.
bool Core::reach_register(Thread& thread, const Access& a, Time now, Outcome& out) {
  const Register target = *around.interrupts.register_of(a.address);
  turns.shorten(thread.hart.clock);  // the message, or its answer, may be for this core
  if (a.kind == Access::Kind::write) {
    out.cost = turns.shared(around.machine.interrupt.send);
    around.interrupts.send_write(target, a.value, thread.id, now + out.cost);
    return true;
  }
  around.interrupts.send_read(target, thread.id, now);
  thread.asked = Thread::kRegister;
  return false;
}

// At once, or into the store buffer.
[[gnu::always_inline]] inline bool Core::store(Thread& thread, const Access& a, Time now,
                                               Outcome& out) {
  const bool first = thread.buffer.empty();
  if (first) {
    Time lookup = 0;
    if (Line* line = ready(thread, a.line(), ClientEvent::Store, now, lookup)) {
      apply(thread, a, *line, now, out);
      return true;
    }
  }
  const bool entered = buffer(thread, {a.address, a.value, a.size}, now);
  if (observed && first) observed->missed_store(thread.id, 0);
  return entered;
}

// By the hart's own stores, or in the cache.
bool Core::load(Thread& thread, const Access& a, Time now, Outcome& out) {
  const auto found = thread.buffer.search(a.address, a.size, out.value);
  out.cost = spec.l1_hit;
  if (found == StoreBuffer::Found::value) {
    thread.varies = true;
    if (thread.weak) thread.weak->forwarded(a, thread.buffer);
    return true;
  }
  if (found != StoreBuffer::Found::nothing) return false;
  if (looks_again(thread, a)) {
    out.cost += spec.mispredict;
    thread.varies = true;  // no turn for a sleeper to repeat
  }
  return in_cache(thread, a, now, out);
}

// Locked meanwhile; where its line's data are, if the core has not got it alone (rule C8).
[[gnu::always_inline]] inline bool Core::begin_atomic(Thread& thread, const Access& a, Time now,
                                                      Outcome& out) {
  unlock(thread, now);
  thread.looked = Thread::kNoLine;
  Line* const line = lines.find(a.line());
  if (line && line->watchers) turns.wake_lockers(*line, now);
  const bool alone = line && around.protocol.may_store(line->copy.state);
  if (alone && !may_begin(thread, *line, now)) return false;
  out.cost = spec.atomic;
  if (alone && apply_in_l1(thread, a, *line, now, out)) return true;
  if (!a.operates() || !spec.far_atomics || !goes_far(a.line()))
    return in_cache(thread, a, now, out);
  thread.asked = ask_far(a, now);
  thread.restarts = false;
  if (observed) observed->missed(thread.id);
  return false;
}

// False: its line is not in the L1, or in_cache() has more to do. Where nothing is to be looked up
// or asked for, this does the same in fewer steps.
[[gnu::always_inline]] inline bool Core::apply_in_l1(Thread& thread, const Access& a, Line& line,
                                                     Time now, Outcome& out) {
  if (!line.in_l1 || observed || wish_of(a, spec) != ClientEvent::Store) return false;
  take(line, now);
  if (std::exchange(thread.restarts, false)) out.cost += spec.restart;
  apply(thread, a, line, now, out);
  return true;
}

// An SC without reservation (rule C7).
bool Core::fail(Thread& thread, const Access& a, Time now, Outcome& out) {
  out.value = 1;
  end_attempt(thread, now);
  if (observed) observed->waited(thread.id, a.line(), thread.hart.pc, now);
  return true;
}

[[gnu::always_inline]] inline bool Core::in_cache(Thread& thread, const Access& a, Time now,
                                                  Outcome& out) {
  Time lookup = 0;
  Line* line = ready(thread, a.line(), wish_of(a, spec), now, lookup);
  const bool restarts = std::exchange(thread.restarts, false);
  if (!line) {
    if (observed) observed->missed(thread.id);
    return false;
  }
  out.cost += lookup + (restarts ? spec.restart : 0);
  thread.varies |= lookup > 0;
  apply(thread, a, *line, now, out);
  return true;
}

// The access itself, to a line with the right that it needs.
[[gnu::always_inline]] inline void Core::apply(Thread& thread, const Access& a, Line& line,
                                               Time now, Outcome& out) {
  if (observed) observed.access(thread, a, now, &line.data);
  if (a.kind == Access::Kind::load) {
    thread.looked = line.number;
    if (thread.heeds.recording) {
      thread.heeds.recording = thread.hart.may_wait();
      thread.watch(line.number);
    }
  }
  if (a.writes()) written(line, now, thread);
  if (thread.weak) return apply_weakly(thread, a, line, now, out);
  operate(thread, a, line, now, out);
}

void Core::operate(Thread& thread, const Access& a, Line& line, Time now, Outcome& out) {
  using K = Access::Kind;
  const unsigned offset = a.address % kLineBytes;
  switch (a.kind) {
    case K::amo:
    case K::cas_pair:
      out.answer(a.operation().apply(line.data));
      return lock(thread, line, now + out.cost);
    case K::lr:
      out.value = line.data.read(offset, a.size);
      return reserve(thread, line, now, out.cost);
    case K::store:
      return line.data.write(offset, a.size, a.value);
    case K::sc:
      line.data.write(offset, a.size, a.value);
      out.value = 0;
      return end_attempt(thread, now);
    default:
      out.value = line.data.read(offset, a.size);
  }
}

// A hart is about to write a line at `now`: first it is as if nobody had slept.
void Core::written(Line& line, Time now, const Thread& by) {
  if (line.watchers) turns.wake_watchers(line, now);
  written_awake(line, by);
}

// Is it at the line of its last load, which another hart of the core has written since? (Asked once
// a load: one that has to wait then was not done ahead.)
bool Core::looks_again(Thread& thread, const Access& a) {
  const bool overtaken = std::exchange(thread.heeds.overtaken, false);
  return std::exchange(thread.looked, Thread::kNoLine) == a.line() && overtaken;
}

// Its siblings lose their reservations of the line (rule C7).
void Core::take_reservations(Line& line, const Thread& by) {
  line.reserved = by.reservation == line.number;
  for (const auto& t : threads)
    if (t->reservation == line.number && t.get() != &by) t->reservation = Thread::kNoLine;
}

}  // namespace uncore
