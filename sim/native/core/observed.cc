#include "core/observed.hh"

#include <algorithm>
#include <array>

#include "core/core.hh"

namespace uncore {
namespace {

// Returns true if the hart waits until this store of its own leaves the buffer.
bool waits_for(const Thread& t, const Store& s) {
  using K = Access::Kind;
  if (t.mode != Thread::Mode::waiting) return false;
  uint64_t value = 0;
  const Access& a = t.pending;
  if (a.kind == K::load)
    return t.buffer.search(a.address, a.size, value) == StoreBuffer::Match::conflict;
  return !t.weak || a.kind == K::store || t.weak->waits_for(s, a);
}

// Returns the value at the access's address after it, given the value `old` it.
uint64_t value_after(const Access& a, const Bytes& data, uint64_t old) {
  if (a.kind == Access::Kind::store || a.kind == Access::Kind::sc) return a.value;
  if (!a.operates()) return old;
  const KeptBytes after(data);
  a.operation().apply(after);
  return after.read(a.offset(), std::min<unsigned>(a.size, 8));
}

Trace::Access traced(const Thread& t, Agent core, const Access& a, uint64_t pc, Time issued,
                     Time now, const Bytes& data) {
  const uint64_t old = data.at ? data.read(a.offset(), std::min<unsigned>(a.size, 8)) : 0;
  return {.hart = t.id,
          .core = core,
          .pc = pc,
          .address = a.address,
          .size = a.size,
          .kind = static_cast<uint8_t>(a.kind),
          .issued = issued,
          .at = now,
          .found = old,
          .left = data.at ? value_after(a, data, old) : 0};
}

Frame frame(const Thread& t) {
  const uint64_t* const x = t.hart.x;
  return {.pc = t.hart.pc, .ra = x[1], .sp = x[2], .fp = x[8]};
}

// Reads doublewords that the core's caches do not have. It reads eight at a time, because each read
// searches the caches of the whole machine.
class Elsewhere {
 public:
  explicit Elsewhere(FunctionalMemory& memory) : memory_(memory) {}
  uint64_t word(uint64_t address) {
    if (const uint64_t begin = address & ~(sizeof(words_) - 1); begin != begin_) {
      memory_.read(begin, sizeof(words_), reinterpret_cast<uint8_t*>(words_.data()));
      begin_ = begin;
    }
    return words_[address % sizeof(words_) / sizeof(words_[0])];
  }

 private:
  FunctionalMemory& memory_;
  std::array<uint64_t, 8> words_;
  uint64_t begin_ = 1;  // matches no address, because it is odd
};

Attribution::Access attributed(const Thread& t, const Access& a) {
  using K = Access::Kind;
  return {.line = a.line,
          .pc = t.hart.pc,
          .bytes = t.core.lines.size.parts(a.offset(), a.size),
          .reads = a.kind != K::store && a.kind != K::sc,
          .writes = a.kind != K::load && a.kind != K::lr,
          .repeats = t.slow_path.recording};
}

}  // namespace

uint32_t Observed::callers(const Thread& t) const { return callers(t, frame(t)); }

void Observed::finished(const Thread& t) const { attribution_->finished(t.id, t.hart.clock); }

// Returns the number of the call chain of the hart's present instruction. The hart's own core is
// searched for the stack's bytes first, because it has most of them.
uint32_t Observed::callers(const Thread& t, const Frame& frame) const {
  if (!unwinding_) return 0;
  uint64_t stored = 0;  // lines with bytes in the store buffer: a set of bits, line number % 64
  for (const Store& s : t.buffer.entries()) stored |= uint64_t{1} << s.line % 64;
  Elsewhere elsewhere(t.core.context.memory);
  const auto read = [&](uint64_t address, uint64_t& word) {
    const uint64_t placed = t.core.context.map.place(address);
    if (placed % sizeof(word)) return false;
    const uint64_t number = t.core.lines.size.number(placed);
    if (stored >> number % 64 & 1) {
      const StoreBuffer::Match match = t.buffer.search(placed, sizeof(word), word);
      if (match != StoreBuffer::Match::nothing) return match == StoreBuffer::Match::value;
    }
    const Line* line = t.core.lines.find(number);
    if (line && protocol_.holds_copy(line->copy.state)) {
      word = line->data().read(t.core.lines.size.offset(placed), sizeof(word));
      return true;
    }
    if (!t.core.context.supervisor->mapped(address, sizeof(word))) return false;
    word = elsewhere.word(address);
    return true;
  };
  return attribution_->chains.number(unwinding_->callers(frame, read));
}

// Reports an access that is performed now. One that was answered `later` has waited until now.
void Observed::access(const Thread& t, const Access& a, Time now, const Bytes& data) const {
  const Time issued = t.mode == Thread::Mode::waiting ? t.pending.since : now;
  if (trace_) trace_->performed(traced(t, core_, a, t.hart.pc, issued, now, data));
  if (t.slow_path.recording) attribution_->retired(t.id, t.hart.instructions);
  Attribution::Access access = attributed(t, a);
  if (attribution_->costs(t.id, now)) access.callers = callers(t, frame(t));
  attribution_->touched(t.id, core_, access, now);
}

// Reports a probe that takes the copy or the right to write. A line whose writeback is in flight
// loses nothing, because it has been evicted already.
void Observed::probed(const Copy& copy, const Header& m, bool counted) const {
  const State before = copy.state;
  const State after = protocol_.client(before, copy.event(protocol_, m)).next();
  LineCopies::Loss loss;
  if (!protocol_.leaves(before))
    loss = {.copy = !protocol_.holds_copy(after),
            .right = protocol_.may_store(before) && !protocol_.may_store(after)};
  attribution_->copies.probed(core_, m.line, m.kind != Kind::ProbeS && counted, loss);
}

// Reports a store that leaves the buffer. If the hart waited for it, that wait ends now.
void Observed::drained(const Thread& t, std::size_t older, Time now, const Bytes& data) const {
  const Store& s = t.buffer.entries()[older];
  if (trace_) {
    Access a = s.atomic;
    if (!s.is_atomic())
      a = {.kind = Access::Kind::store,
           .size = s.size,
           .address = s.address,
           .line = s.line,
           .value = s.value};
    const auto [pc, since] = trace_->drained(t.id, older);
    trace_->performed(traced(t, core_, a, pc, since, now, data));
  }
  const bool waits = waits_for(t, s), costs = waits || attribution_->store(t.id, older).missing;
  attribution_->drained(t.id, core_, older,
                        {.line = s.line,
                         .pc = 0,  // recorded when the store entered the buffer
                         .bytes = t.core.lines.size.parts(s.offset(), s.size),
                         .reads = s.is_atomic(),
                         .writes = true,
                         .callers = costs ? callers(t, attribution_->store(t.id, older).frame) : 0},
                        waits, now);
}

// Reports that the hart has received the value that it waited for: that of a register, or the one
// that a far atomic read.
void Observed::answered(const Thread& t, Time now) const {
  if (!t.pending.operates()) return waited(t, now);
  access(t, t.pending, now, {});
  resumed(t, now > t.pending.since ? now - t.pending.since : 0, now);
}

// Reports a wait that ends now without an access to a line: for a register, or because the run
// ends.
void Observed::waited(const Thread& t, Time now) const {
  const auto stores = t.buffer.entries();
  const auto store = std::ranges::find_if(stores, [&](const Store& s) { return waits_for(t, s); });
  if (store != stores.end())
    attribution_->waited_store(t.id, core_, static_cast<std::size_t>(store - stores.begin()),
                               store->line, now);
  else
    attribution_->waited(t.id, core_, t.pending.line, t.hart.pc, now);
  resumed(t, now > t.pending.since ? now - t.pending.since : 0, now);
}

void Observed::buffered(const Thread& t, Time now) const {
  attribution_->buffered(t.id, frame(t), now);
  if (trace_) trace_->buffered(t.id, t.hart.pc, now);
}

void Observed::began_waiting(const Thread& t) const {
  attribution_->begin_wait(t.id, t.hart.clock);
  record(t, Trace::What::waits, t.hart.clock, t.pending.address);
}

// Reports that the hart continues at `then`, after it has waited for the duration `waited`.
void Observed::resumed(const Thread& t, Time waited, Time then) const {
  attribution_->resumed(t.id, waited);
  record(t, Trace::What::goes_on, then);
}

void Observed::marked(const Thread& t, unsigned code, uint64_t value) const {
  attribution_->marked(t.id, code, value, t.hart.clock);
  record(t, Trace::What::marks, t.hart.clock, uint64_t{code} << 56 | value);
}

void Observed::filled(uint64_t line, State state, Time now, Time held_until) const {
  attribution_->copies.filled(core_, line, protocol_.may_store(state));
  if (trace_ && held_until > now) trace_->held(core_, line, now, held_until);
}

void Observed::ended(const Thread& t, Time now) const {
  if (t.mode == Thread::Mode::waiting) waited(t, now);
}

}  // namespace uncore
