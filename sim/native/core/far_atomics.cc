#include "core/far_atomics.hh"

#include "core/at_line.hh"
#include "spec/core_spec.hh"

namespace uncore {

bool FarAtomics::goes_far(const Access& a) const {
  return core_.spec.far_atomics && a.operates() && is_sent(a);
}

bool FarAtomics::is_sent(const Access& a) const {
  Line* line = core_.lines.find(a.line);
  return CoreClient::goes_far(AtLine(core_, a.line, line, 0, 0), line ? line->copy : Copy{},
                              core_.spec.far_owned);
}

// Sends the operation to the resolver. Returns the id of the request.
uint32_t FarAtomics::ask(const Access& a, Time now) {
  AtLine env(core_, a.line, nullptr, now, core_.caches.looked_up(a.line, now));
  return CoreClient::ask_far(env, a.operation());
}

// Sends the operation of a hart that waits for its value.
void FarAtomics::send(Thread& thread, const Access& a, Time now) {
  thread.pending.request = ask(a, now);
  if (core_.observed) core_.observed->missed(thread.id);
}

// Handles the old value that the resolver returns: a waiting hart continues (C8.4), or a posted AMO
// may leave its buffer (C8.6).
void FarAtomics::receive_value(const Message<Bytes>& m, Time now) {
  for (const auto& t : core_.threads) {
    if (t->pending.request == m.id) return core_.waiting.complete(*t, m.old, now);
    for (Store& s : t->buffer.entries()) {
      if (s.request != m.id) continue;
      s.done = true;
      core_.stores->drain(*t, now);
      return core_.turns.schedule_next();
    }
  }
}

// C8.5: puts a posted AMO into the store buffer, like a store.
bool FarAtomics::post(Thread& thread, const Access& a, Time now) {
  if (!core_.stores->enter(thread, {a.address, a.line, a.value, a.size, a}, now)) return false;
  if (thread.buffer.head().is_atomic()) leave_buffer(thread, now);
  return true;
}

// Removes the oldest entry, a posted atomic, from the buffer if the resolver has performed it. If
// the core has meanwhile become the line's only holder, the core performs the atomic (C8.1).
bool FarAtomics::leave_buffer(Thread& thread, Time now) {
  const Store& oldest = thread.buffer.head();
  if (!oldest.done && (oldest.request || goes_far(oldest.atomic))) {
    send_posted(thread, now);
    return false;
  }
  Line* line = nullptr;
  if (!oldest.done) {
    Time cost = 0;
    line = core_.caches.find_or_request(thread, oldest.line, core_.lines.find(oldest.line),
                                        ClientEvent::Amo, now, cost);
    if (!line) return false;
  }
  make_visible(thread, line, now);
  return true;
}

// `line`: null if the resolver has performed the atomic.
void FarAtomics::make_visible(Thread& thread, Line* line, Time now) {
  if (core_.observed) core_.observed.drained(thread, 0, now, line ? line->data() : Bytes{});
  if (line) {
    core_.before_write(*line, now, thread);
    thread.buffer.head().atomic.operation().apply(line->data());
  }
  thread.buffer.remove(0);
}

// C8.7: sends the oldest posted atomic and those for the same line that directly follow it in the
// buffer.
void FarAtomics::send_posted(Thread& thread, Time now) {
  const uint64_t number = thread.buffer.head().line;
  for (std::size_t i = 0; i < thread.buffer.size(); ++i) {
    Store& s = thread.buffer[i];
    if (!s.is_atomic() || s.line != number || !goes_far(s.atomic)) break;
    if (s.request) continue;
    s.request = ask(s.atomic, now);
    if (core_.observed) core_.observed->missed_store(thread.id, i);
  }
}

}  // namespace uncore
