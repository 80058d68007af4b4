// What a core tells the attribution (observe/attribution.hh): never called where there is none.
#include "core/core.hh"

namespace uncore {

// The access is performed on its line; one that was answered `later` has waited until now.
void Core::observe_access(Thread& t, const Access& a, Time now) {
  using K = Access::Kind;
  around.attribution->retired(t.id, t.hart.instructions);
  around.attribution->touched(t.id, agent,
                              {.line = a.line(),
                               .pc = t.hart.pc,
                               .offset = static_cast<unsigned>(a.address % kLineBytes),
                               .size = a.size,
                               .reads = a.kind != K::store && a.kind != K::sc,
                               .writes = a.kind != K::load && a.kind != K::lr},
                              now);
}

// A probe takes something; but not of a line whose writeback is under way: that has been evicted.
void Core::observe_probed(const Copy& copy, const Msg& m) {
  const Protocol& states = around.protocol;
  const State before = copy.state;
  const State after = states.client(before, copy.event(states, m)).next();
  Attribution::Loss loss;
  if (!states.leaves(before))
    loss = {.copy = !states.holds_copy(after),
            .right = states.may_store(before) && !states.may_store(after)};
  around.attribution->probed(agent, m.line, m.kind != Kind::ProbeS, loss);
}

// The oldest store leaves the buffer for its line. Whoever waits for the buffer has waited for it.
void Core::observe_drained(const Thread& t, Time now) {
  const Store& s = t.buffer.head();
  around.attribution->drained(t.id, agent,
                              {.line = s.address >> kLineShift,
                               .pc = 0,  // noted when it entered the buffer
                               .offset = static_cast<unsigned>(s.address % kLineBytes),
                               .size = s.size,
                               .reads = s.is_atomic(),
                               .writes = true},
                              waits_for_buffer(t), now);
}

bool Core::waits_for_buffer(const Thread& t) const {
  if (t.mode != Thread::Mode::waiting || t.buffer.empty()) return false;
  uint64_t value = 0;
  return t.pending.kind != Access::Kind::load ||
         t.buffer.search(t.pending.address, t.pending.size, value) == StoreBuffer::Found::conflict;
}

// What it asked for has come: a register, or what a far atomic read where it wrote.
void Core::observe_answered(Thread& t, Time now) {
  if (!t.pending.operates()) return observe_waited(t, now);
  observe_access(t, t.pending, now);
  around.attribution->resumed(t.id, now > t.since ? now - t.since : 0);
}

// It has waited until now without touching a line: for a register, or until the run ended.
void Core::observe_waited(const Thread& t, Time now) {
  if (waits_for_buffer(t))
    around.attribution->waited_store(t.id, t.buffer.head().address >> kLineShift, now);
  else
    around.attribution->waited(t.id, t.pending.line(), t.hart.pc, now);
  around.attribution->resumed(t.id, now > t.since ? now - t.since : 0);
}

void Core::observe_end(Time now) {
  for (const auto& t : threads)
    if (t->mode == Thread::Mode::waiting) observe_waited(*t, now);
}

}  // namespace uncore
