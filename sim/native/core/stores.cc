// What a hart no longer waits for: stores in its buffer, and posted far atomics among them (rules
// H3 and C8). They become visible in order.
#include <algorithm>

#include "core/core.hh"

namespace uncore {

// Into the store buffer, if there is room.
bool Core::buffer(Thread& thread, const Store& store, Time now) {
  if (thread.buffer.size() >= capacity_) return false;
  thread.buffer.push(store);
  if (observed) observed.buffered(thread, now);
  if (spec.store_ahead && !store.is_atomic()) ask_ahead(thread, store.line(), now);
  return true;
}

// For the line of a store that is not the oldest; what has come by then is used when it is (H3.2).
void Core::ask_ahead(const Thread& thread, uint64_t number, Time now) {
  const Line* line = lines.find(number);
  if (thread.buffer.size() == 1 || (line && around.protocol.may_store(line->copy.state))) return;
  Time cost = 0;
  ready(thread, number, ClientEvent::Store, now, cost);
}

// A far atomic that nobody waits for (rule C8).
bool Core::post(Thread& thread, const Access& a, Time now) {
  if (!buffer(thread, {a.address, a.value, a.size, a}, now)) return false;
  if (thread.buffer.head().is_atomic()) drain_atomics(thread, now);
  return true;
}

// Makes the oldest stores visible, as many as have their lines; asks for the next one's.
void Core::drain(Thread& thread, Time now) {
  StoreBuffer& buffer = thread.buffer;
  if (thread.weak)
    release(thread, now);
  else
    while (!buffer.empty() &&
           (buffer.head().is_atomic() ? drain_atomics(thread, now) : drain_store(thread, 0, now))) {
    }
  // Whoever waited for the buffer (a full one, an empty one, a conflict) looks again.
  if (thread.mode == Thread::Mode::waiting) attempt(thread, now);
}

// The oldest but so many, a store, becomes visible. False: it waits for its line.
bool Core::drain_store(Thread& thread, std::size_t older, Time now) {
  const Store& s = thread.buffer[older];
  Time cost = 0;
  Line* line = ready(thread, s.line(), ClientEvent::Store, now, cost);
  if (!line) {
    if (observed) observed->missed_store(thread.id, older);
    return false;
  }
  if (observed) observed.drained(thread, older, now, &line->data);
  written(*line, now, thread);
  if (thread.weak) seen(thread, s, *line, now);
  line->data.write(s.address % kLineBytes, s.size, s.value);
  thread.buffer.remove(older);
  return true;
}

// The oldest is a posted atomic. It is done here if the core has got its line meanwhile; else it is
// sent, and so are those for the same line behind it: one path keeps them in order (F5). False: it
// is under way.
bool Core::drain_atomics(Thread& thread, Time now) {
  const Store& oldest = thread.buffer.head();
  if (oldest.done || (!oldest.asked && !goes_far(oldest.line()))) {
    Time cost = 0;
    Line* line = oldest.done ? nullptr : ready(thread, oldest.line(), ClientEvent::Amo, now, cost);
    if (!oldest.done && !line) return false;
    if (observed) observed.drained(thread, 0, now, line ? &line->data : nullptr);
    if (line) {
      written(*line, now, thread);
      oldest.atomic.operation().apply(line->data);
    }
    thread.buffer.remove(0);
    return true;
  }
  for (std::size_t i = 0; i < thread.buffer.size(); ++i) {
    Store& s = thread.buffer[i];
    if (!s.is_atomic() || s.line() != oldest.line() || !goes_far(s.line())) break;
    if (s.asked) continue;
    s.asked = ask_far(s.atomic, now);
    if (observed) observed->missed_store(thread.id, i);
  }
  return false;
}

// A far atomic has been performed: what it read has come.
void Core::answered(const Msg& m, Time now) {
  for (const auto& t : threads) {
    if (t->asked == m.id) return answered(*t, m.old, now);
    for (Store& s : t->buffer.entries()) {
      if (s.asked != m.id) continue;
      s.done = true;
      drain(*t, now);
      return turns.schedule_next();
    }
  }
}

}  // namespace uncore
