#include "core/tso_stores.hh"

#include "core/core.hh"
#include "spec/core_spec.hh"

namespace uncore {

// H3.1: performs the store at once if the buffer is empty and the line may be written; else the
// store goes into the buffer. Returns false if the buffer is full.
bool TsoStores::store(Thread& thread, const Access& a, Time now, Outcome& out) {
  const bool first = thread.buffer.empty();
  if (first) {
    Time lookup = 0;
    if (Line* line = core_.caches.find_or_request(thread, a.line, core_.lines.find(a.line),
                                                  ClientEvent::Store, now, lookup)) {
      core_.lsu.apply(thread, a, *line, now, out);
      return true;
    }
  }
  const bool entered = enter(thread, {a.address, a.line, a.value, a.size}, now);
  if (entered && core_.spec.store_ahead) ask_ahead(thread, a.line, now);
  if (core_.observed && first) core_.observed->missed_store(thread.id, 0);
  return entered;
}

// H3.2: requests the line of a store that is not the oldest one in the buffer, so that the line has
// arrived when the store's turn comes.
void TsoStores::ask_ahead(const Thread& thread, uint64_t number, Time now) {
  Line* const line = core_.lines.find(number);
  if (thread.buffer.size() == 1 || (line && core_.context.protocol.may_store(line->copy.state)))
    return;
  Time cost = 0;
  core_.caches.find_or_request(thread, number, line, ClientEvent::Store, now, cost);
}

void TsoStores::release(Thread& thread, Time now) {
  while (!thread.buffer.empty() && release_oldest(thread, now)) {
  }
}

bool TsoStores::release_oldest(Thread& thread, Time now) {
  if (thread.buffer.head().is_atomic()) return core_.far_atomics.leave_buffer(thread, now);
  return make_visible(thread, 0, now);
}

}  // namespace uncore
