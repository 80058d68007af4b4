#include "core/observed.hh"

namespace uncore {
namespace {

bool waits_for_buffer(const Thread& t) {
  if (t.mode != Thread::Mode::waiting || t.buffer.empty()) return false;
  uint64_t value = 0;
  return t.pending.kind != Access::Kind::load ||
         t.buffer.search(t.pending.address, t.pending.size, value) == StoreBuffer::Found::conflict;
}

}  // namespace

// The access is performed on its line; one that was answered `later` has waited until now.
void Observed::access(const Thread& t, const Access& a, Time now) const {
  using K = Access::Kind;
  by_->retired(t.id, t.hart.instructions);
  by_->touched(t.id, core_,
               {.line = a.line(),
                .pc = t.hart.pc,
                .offset = static_cast<unsigned>(a.address % kLineBytes),
                .size = a.size,
                .reads = a.kind != K::store && a.kind != K::sc,
                .writes = a.kind != K::load && a.kind != K::lr},
               now);
}

// A probe takes something; but not of a line whose writeback is under way: that has been evicted.
void Observed::probed(const Copy& copy, const Header& m) const {
  const State before = copy.state;
  const State after = protocol_.client(before, copy.event(protocol_, m)).next();
  Attribution::Loss loss;
  if (!protocol_.leaves(before))
    loss = {.copy = !protocol_.holds_copy(after),
            .right = protocol_.may_store(before) && !protocol_.may_store(after)};
  by_->probed(core_, m.line, m.kind != Kind::ProbeS, loss);
}

// The oldest store leaves the buffer for its line. Whoever waits for the buffer has waited for it.
void Observed::drained(const Thread& t, Time now) const {
  const Store& s = t.buffer.head();
  by_->drained(t.id, core_,
               {.line = s.address >> kLineShift,
                .pc = 0,  // noted when it entered the buffer
                .offset = static_cast<unsigned>(s.address % kLineBytes),
                .size = s.size,
                .reads = s.is_atomic(),
                .writes = true},
               waits_for_buffer(t), now);
}

// What it asked for has come: a register, or what a far atomic read where it wrote.
void Observed::answered(const Thread& t, Time now) const {
  if (!t.pending.operates()) return waited(t, now);
  access(t, t.pending, now);
  by_->resumed(t.id, now > t.since ? now - t.since : 0);
}

// It has waited until now without touching a line: for a register, or until the run ended.
void Observed::waited(const Thread& t, Time now) const {
  if (waits_for_buffer(t))
    by_->waited_store(t.id, t.buffer.head().address >> kLineShift, now);
  else
    by_->waited(t.id, t.pending.line(), t.hart.pc, now);
  by_->resumed(t.id, now > t.since ? now - t.since : 0);
}

void Observed::ended(const Thread& t, Time now) const {
  if (t.mode == Thread::Mode::waiting) waited(t, now);
}

}  // namespace uncore
