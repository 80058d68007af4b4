#include "core/weak_stores.hh"

#include "core/core.hh"

namespace uncore {

// K4.4: the kernel's accesses are performed in program order, one at a time.
bool WeakStores::must_drain_before(const Thread& thread, const Access& a) const {
  return thread.in_kernel || thread.weak->waits(a, thread.buffer);
}

void WeakStores::fence(Thread& thread, const Access& a, Time now) {
  thread.weak->fence(a.order >> 4, a.order & 15, thread.buffer, now);
}

// H8.1, H8.10: puts the store into the buffer. It leaves at once if no delay was drawn.
bool WeakStores::store(Thread& thread, const Access& a, Time now, Outcome& out) {
  if (thread.buffer.size() >= capacity_) return false;
  Store store = thread.weak->enter(a, now);
  store.number = thread.hart.instructions;
  if (thread.in_kernel) store.leaves = now;  // K4.4
  enter(thread, store, now);
  note(thread, a, kNever);
  out.cost = thread.weak->stall();
  if (store.leaves > now)
    leave_later(thread, store.leaves);
  else
    release(thread, now);
  return true;
}

// Schedules an event at `then` that drains the buffer (Core::leave).
void WeakStores::leave_later(const Thread& thread, Time then) const {
  const auto core = static_cast<uint64_t>(core_.agent);
  core_.context.network.expect(core_.agent);
  core_.context.queue.push(then,
                           {event_place(core, kInterruptClass, thread.id), event_sender(core, 0)},
                           Action::leave, thread.id);
  core_.turns.shorten(then - 1);
}

// H8.2: makes all stores visible that may leave and have their lines; requests the lines of the
// others that may leave.
void WeakStores::release(Thread& thread, Time now) {
  for (std::size_t i = 0; i < thread.buffer.size();) {
    if (!Weak::may_leave(thread.buffer, i, now) || !make_visible(thread, i, now)) ++i;
  }
}

void WeakStores::visible(const Thread& thread, const Store& s, const Line& line, Time now) const {
  thread.weak->left(s, line.data(), now);
  if (core_.context.accesses) core_.context.accesses->seen(thread.id, s.number, now);
}

// Performs an access other than a store, and records what the hart has seen (H8.4 to H8.8).
void WeakStores::apply(Thread& thread, const Access& a, Line& line, Time now, Outcome& out) {
  using K = Access::Kind;
  Weak& weak = *thread.weak;
  if (thread.in_kernel) weak.sees_all(now);  // K4.4
  if (a.kind == K::load) {
    out.value = weak.load(a, line.data(), now);
    return note(thread, a, weak.views.result);
  }
  if (a.kind == K::lr)
    weak.reserve(a, line.data(), now);
  else
    weak.note_change(a.address, a.size, line.data(), now);
  Stores::apply(thread, a, line, now, out);
  if (a.kind != K::lr) {
    weak.atomic(a, now);
    out.cost += weak.stall();
  }
  note(thread, a, weak.views.result);
}

bool WeakStores::try_forward(Thread& thread, const Access& load) {
  return thread.weak->try_forward(load, thread.buffer);
}

void WeakStores::far_amo_done(Thread& thread, const Access& atomic, Time now) {
  thread.weak->atomic(atomic, now);
  note(thread, atomic, now);
}

// Adds an access to the list of accesses (observe/accesses.hh), if the job asks for that list.
void WeakStores::note(const Thread& thread, const Access& a, Time view) const {
  if (!core_.context.accesses || thread.in_kernel) return;
  core_.context.accesses->note(
      thread.id, {.number = thread.hart.instructions,
                  .pc = thread.hart.pc,
                  .address = a.address,
                  .size = a.size,
                  .reads = a.kind != Access::Kind::store && a.kind != Access::Kind::sc,
                  .writes = a.writes(),
                  .seen = view});
}

}  // namespace uncore
