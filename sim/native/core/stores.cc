#include "core/stores.hh"

#include "core/core.hh"

namespace uncore {

// H3.1: puts a store into the buffer, if there is room.
bool Stores::enter(Thread& thread, const Store& store, Time now) {
  if (thread.buffer.size() >= capacity_) return false;
  thread.buffer.push(store);
  if (core_.observed) core_.observed.buffered(thread, now);
  return true;
}

void Stores::apply(Thread& thread, const Access& a, Line& line, Time now, Outcome& out) {
  core_.lsu.operate(thread, a, line, now, out);
}

// Releases stores. Then tries the hart's pending access again, which may have waited for room in
// the buffer, for an empty buffer, or for a store that overlaps the load.
void Stores::drain(Thread& thread, Time now) {
  release(thread, now);
  if (thread.mode == Thread::Mode::waiting) core_.waiting.attempt(thread, now);
}

// Makes the store with `older` older entries ahead of it visible. Returns false if it must wait for
// its line.
bool Stores::make_visible(Thread& thread, std::size_t older, Time now) {
  const Store& s = thread.buffer[older];
  Time cost = 0;
  Line* line = core_.caches.find_or_request(thread, s.line, core_.lines.find(s.line),
                                            ClientEvent::Store, now, cost);
  if (!line) {
    if (core_.observed) core_.observed->missed_store(thread.id, older);
    return false;
  }
  if (core_.observed) core_.observed.drained(thread, older, now, line->data());
  core_.before_write(*line, now, thread);
  visible(thread, s, *line, now);
  if (s.is_atomic())
    s.atomic.operation().apply(line->data());
  else
    line->data().write(s.offset(), s.size, s.value);
  thread.buffer.remove(older);
  return true;
}

}  // namespace uncore
