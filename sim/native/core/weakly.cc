// Stores of a weakly ordered core: they leave the buffer when a draw says, those of different lines
// in any order (rule H8).
#include "core/core.hh"

namespace uncore {

// The access itself, with what it has seen by then.
void Core::apply_weakly(Thread& thread, const Access& a, Line& line, Time now, Outcome& out) {
  using K = Access::Kind;
  Weak& weak = *thread.weak;
  if (a.kind == K::load) {
    out.value = weak.load(a, line.data, now);
    return note(thread, a, weak.views.result);
  }
  if (a.kind == K::lr)
    weak.reserve(a, line.data, now);
  else
    weak.changes(a.address, a.size, line.data, now);
  operate(thread, a, line, now, out);
  if (a.kind != K::lr) weak.atomic(a, now);
  note(thread, a, weak.views.result);
}

void Core::note(const Thread& thread, const Access& a, Time seen) const {
  if (!around.accesses) return;
  around.accesses->note(thread.id,
                        {.number = thread.hart.instructions,
                         .pc = thread.hart.pc,
                         .address = a.address,
                         .size = a.size,
                         .reads = a.kind != Access::Kind::store && a.kind != Access::Kind::sc,
                         .writes = a.writes(),
                         .seen = seen});
}

// Into the buffer; out of it at once, if it need not stay.
bool Core::store_weakly(Thread& thread, const Access& a, Time now) {
  if (thread.buffer.size() >= capacity_) return false;
  Store store = thread.weak->enters(a, now);
  store.number = thread.hart.instructions;
  thread.buffer.push(store);
  note(thread, a, kNever);
  if (observed) observed.buffered(thread, now);
  if (store.leaves > now)
    keep(thread, store.leaves);
  else
    release(thread, now);
  return true;
}

// The core looks again at `until`.
void Core::keep(const Thread& thread, Time until) {
  const auto core = static_cast<uint64_t>(agent);
  around.network.expect(agent);
  around.queue.push(until, event_place(core, kInterruptClass, thread.id), event_sender(core, 0),
                    Action::leave, thread.id);
  turns.shorten(until - 1);
}

void Core::leave(Thread& thread, Time now) {
  around.network.arrived(agent);
  drain(thread, now);
  turns.schedule_next();
}

// All that may leave and have their lines become visible; the others ask for theirs.
void Core::release(Thread& thread, Time now) {
  for (std::size_t i = 0; i < thread.buffer.size();) {
    if (!Weak::is_free(thread.buffer, i, now) || !drain_store(thread, i, now)) ++i;
  }
}

// A store is seen: before its bytes are in the line.
void Core::seen(const Thread& thread, const Store& s, const Line& line, Time now) const {
  thread.weak->changes(s.address, s.size, line.data, now);
  if (around.accesses) around.accesses->seen(thread.id, s.number, now);
}

}  // namespace uncore
