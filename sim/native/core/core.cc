#include "core/core.hh"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/engine.hh"

namespace uncore {
namespace {

// An LR's lock lasts for the time of so many instructions and a misprediction beyond its own cost
// at most (rule C6): its SC, and the branch between them, must fit in.
constexpr Time kLockInstructions = 64;

constexpr bool amo(const Access& a) {
  return a.kind == Access::Kind::amo || a.kind == Access::Kind::cas_pair;
}

// It locks its line (rule C6).
constexpr bool locks(const Access& a) { return amo(a) || a.kind == Access::Kind::lr; }

constexpr ClientEvent wish_of(const Access& a, const CoreSpec& spec) {
  if (a.kind == Access::Kind::load) return ClientEvent::Load;
  if (a.kind == Access::Kind::lr && !spec.lr_exclusive) return ClientEvent::Load;
  if (amo(a) && spec.far_atomics) return ClientEvent::Amo;
  return ClientEvent::Store;
}

}  // namespace

// --- performing accesses ----------------------------------------------------------------------

// The line with the right that `wish` needs, or null: requested, or in a state that must pass.
Line* Core::ready(uint64_t number, ClientEvent wish, Time now, Time& cost) {
  Line* line = lines.find(number);
  const State state = line ? line->copy.state : State::I;
  const Cell cell = client_cell(engine.protocol(), state, wish, number);
  if (cell.has(Act::stall)) return nullptr;
  if (!line) line = &lines.insert(number);
  if (!cell.has(Act::hit)) {
    if (line->watchers) wake_watchers(*line, now, actor());
    request(*line, cell, now + spec.l2_hit);
    return nullptr;
  }
  line->copy.state = cell.next();
  cost = line->in_l1 ? 0 : spec.l2_hit;
  use(*line, now);
  return line;
}

// The line is the last used of its sets, and in the L1.
void Core::use(Line& line, Time now) {
  lines.touch(line, now, executing_ ? executing_->index + 1 : 0);
  if (!line.in_l1) {
    refresh(line.number, now);
    if (Line* displaced = lines.displaced(line.number)) {
      if (displaced->watchers) wake_watchers(*displaced, now, actor());
      ++disturbances;
      lines.leave_l1(*displaced);
    }
  }
  lines.enter_l1(line);
}

// Who is evicted for a line depends on when sleepers read the others of its sets.
void Core::refresh(uint64_t number, Time now) {
  if (threads.size() == 1 || !lines.watched(number)) return;
  for (const auto& t : threads)
    if (t->mode == Thread::Mode::spinning) advance(*t, before(now, actor(), *t));
}

void Core::request(Line& line, Cell cell, Time now) {
  line.copy.state = cell.next();
  line.copy.request = ++requests_;
  Msg m;
  m.kind = request_kind(cell);
  m.from = m.requester = agent;
  m.to = m.resolver = engine.resolver_above(agent, line.number, agent);
  m.line = line.number;
  m.id = line.copy.request;
  send_time_ = now;
  send(m);
}

// A hart is about to write a line at `now`. Its siblings lose their reservations of it (rule C7).
void Core::written(const Line& line, Time now, const Thread& by) {
  ++disturbances;
  for (const auto& t : threads)
    if (t->reservation == line.number && t.get() != &by) t->reservation = Thread::kNoLine;
  if (line.watchers) wake_watchers(line, now, actor());
}

bool Core::perform(Thread& thread, const Access& a, Time now, Outcome& out) {
  using K = Access::Kind;
  if (a.address - thread.guard < engine.job.stack_guard) return engine.overflow(thread), false;
  if (thread.asked) return false;
  if (a.posted && goes_far(a.line())) return post(thread, a, now);
  if (a.atomic() && !thread.buffer.empty()) return false;
  switch (a.kind) {
    case K::none:
    case K::fence:
      return true;
    case K::write:
      out.cost = engine.machine.interrupt.send;
      tell(thread, Device::write, a, now + out.cost);
      return true;
    case K::read:
      tell(thread, Device::read, a, now);
      thread.asked = Thread::kRegister;
      return false;
    case K::store: {
      Time cost = 0;
      if (thread.buffer.empty()) {
        if (Line* line = ready(a.line(), ClientEvent::Store, now, cost)) {
          if (engine.attribution) observe_access(thread, a, now);
          written(*line, now, thread);
          line->data.write(a.address % kLineBytes, a.size, a.value);
          return true;
        }
        if (engine.attribution) engine.attribution->missed_store(thread.id);
      }
      return buffer(thread, {a.address, a.value, a.size});
    }
    case K::load: {
      const auto found = thread.buffer.search(a.address, a.size, out.value);
      out.cost = spec.l1_hit;
      if (found == StoreBuffer::Found::value) return true;
      if (found == StoreBuffer::Found::conflict) return false;
      break;
    }
    case K::sc:  // its LR has paid for both
      if (thread.reservation != a.line()) {
        out.value = 1;
        thread.reservation = Thread::kNoLine;
        unlock(thread, now);
        if (engine.attribution)
          engine.attribution->waited(thread.id, a.line(), thread.hart.pc, now);
        return true;
      }
      break;
    default:
      out.cost = spec.atomic;
  }
  if (locks(a) && !may_begin(thread, a.line(), now)) return false;
  Time lookup = 0;
  const ClientEvent wish = wish_of(a, spec);
  Line* line = nullptr;
  if (wish == ClientEvent::Amo && goes_far(a.line()))
    thread.asked = ask_far(a, now);
  else
    line = ready(a.line(), wish, now, lookup);
  const bool restarts = std::exchange(thread.restarts, false);
  if (!line) {
    if (engine.attribution) engine.attribution->missed(thread.id);
    return false;
  }
  out.cost += lookup + (restarts ? spec.mispredict : 0);
  if (engine.attribution) observe_access(thread, a, now);
  if (a.kind == K::load && thread.recording) thread.watch(a.line());
  if (a.kind > K::store && a.kind != K::lr) written(*line, now, thread);
  Bytes& data = line->data;
  const unsigned offset = a.address % kLineBytes;
  switch (a.kind) {
    case K::load:
      out.value = data.read(offset, a.size);
      break;
    case K::amo:
    case K::cas_pair:
      operate(a, data, out);
      lock(thread, *line, now, now + out.cost);
      break;
    case K::lr:
      out.value = data.read(offset, a.size);
      thread.reservation = a.line();
      if (writable(line->copy.state)) {
        lock(thread, *line, now,
             now + out.cost + kLockInstructions * spec.instruction + spec.mispredict);
        thread.locked = a.line();
      }
      break;
    case K::sc:
      data.write(offset, a.size, a.value);
      out.value = 0;
      thread.reservation = Thread::kNoLine;
      unlock(thread, now);
      break;
    default:
      break;
  }
  return true;
}

// May a hart begin an atomic on a line (rule C6)? Not while another hart's is under way, nor before
// who has waited for its own to end: then it tries again.
bool Core::may_begin(Thread& thread, uint64_t number, Time now) {
  thread.tries = 0;
  unlock(thread, now);
  const Line* line = lines.find(number);
  if (!line || !writable(line->copy.state)) return true;
  if (line->locked_until > now) {
    thread.tries = line->locked_until;
    thread.restarts = true;
  } else if ((line->stalled > 0 && line->held_until < now) || is_behind(thread, number, now)) {
    thread.tries = now + 2;  // they have asked again by then
  }
  return thread.tries == 0;
}

// Does a hart of the core wait longer for a lock of the line?
bool Core::is_behind(const Thread& thread, uint64_t number, Time now) const {
  const Time since = thread.pending.kind == Access::Kind::none ? now : thread.since;
  return std::ranges::any_of(threads, [&](const auto& t) {
    return t->tries && t->pending.line() == number &&
           std::tie(t->since, t->index) < std::tie(since, thread.index);
  });
}

void Core::lock(Thread& thread, Line& line, Time now, Time until) {
  line.guarded = now <= line.held_until;
  line.locked_until = until;
  for (const auto& t : threads)
    if (t->locked == line.number && t.get() != &thread) t->locked = Thread::kNoLine;
}

// Probes and harts that the LR kept off may ask again.
void Core::unlock(Thread& thread, Time now) {
  if (thread.locked == Thread::kNoLine) return;
  const uint64_t number = thread.locked;
  thread.locked = Thread::kNoLine;
  Line* line = lines.find(number);
  if (!line || line->locked_until <= now) return;
  line->locked_until = now;
  for (const auto& t : threads) {
    if (t->tries <= now + 1 || t->pending.line() != number) continue;
    t->tries = t->hart.clock = now + 1;
    runs_again(*t);
  }
  for (PacketId id : stalled_) {
    const Packet& packet = engine.packets[id];
    if (packet.message.line != number || packet.retry == kNever) continue;
    const Time until = std::max(now + 1, line->held_until);
    defer(id, line, until);
    shorten(until - 1);
  }
}

void Core::send(const Msg& m) {
  engine.send(m, stop, send_time_, agent, sent);
  shorten(send_time_ + reach - 1);
}

// Sends word to the core where a register stands.
void Core::tell(Thread& thread, Device device, const Access& a, Time when) {
  const Register target = *engine.register_of(a.address);
  shorten(thread.hart.clock);  // it, or its answer, may be for this core
  if (target.kind == Register::Kind::send) return engine.send_many(thread, when);
  engine.send_device(device, target, a.value, *this, engine.thread(target.hart).core, thread.id,
                     when);
}

// Is an atomic operation to be sent to where the line's data are (rule C8)?
bool Core::goes_far(uint64_t number) {
  const Line* line = lines.find(number);
  const State state = line ? line->copy.state : State::I;
  return client_cell(engine.protocol(), state, ClientEvent::Amo, number).has(Act::Amo);
}

// Sends it; its number.
uint32_t Core::ask_far(const Access& a, Time now) {
  Msg m;
  m.kind = Kind::Amo;
  m.from = m.requester = agent;
  m.to = m.resolver = engine.resolver_above(agent, a.line(), agent);
  m.line = a.line();
  m.id = ++requests_;
  put(m.data, a);
  send_time_ = now + spec.l2_hit;
  send(m);
  return m.id;
}

// A far atomic has been performed: what it read has come.
void Core::answered(const Msg& m, Time now) {
  for (const auto& t : threads) {
    if (t->asked == m.id) return answered(*t, taken<Outcome>(m.data), now);
    for (Store& s : t->buffer.entries()) {
      if (s.asked != m.id) continue;
      s.done = true;
      drain(*t, now);
      return schedule_next();
    }
  }
}

// Into the store buffer, if there is room.
bool Core::buffer(Thread& thread, const Store& store) {
  const std::size_t capacity =
      std::max<std::size_t>(1, spec.store_buffer / engine.threads_per_core());
  if (thread.buffer.size() >= capacity) return false;
  thread.buffer.push(store);
  if (engine.attribution) engine.attribution->buffered(thread.id, thread.hart.pc);
  return true;
}

// A far atomic that nobody waits for (rule C8).
bool Core::post(Thread& thread, const Access& a, Time now) {
  if (!buffer(thread, {a.address, a.value, a.size, a})) return false;
  if (thread.buffer.head().is_atomic()) drain_atomics(thread, now);
  return true;
}

void Core::answered(Thread& thread, const Outcome& out, Time now) {
  thread.asked = 0;
  if (engine.attribution) observe_answered(thread, now);
  thread.pending = Access{};
  resume(thread, out.value, out.high, now);
  schedule_next();
}

// --- messages ---------------------------------------------------------------------------------

void Core::receive(PacketId id, Time now) {
  --in_flight;
  Packet& packet = engine.packets[id];
  const Msg& m = packet.message;
  if (m.kind == Kind::Value) {
    answered(m, now);
    return engine.packets.drop(id);
  }
  Line* line = lines.find(m.line);
  if (is_probe(m.kind)) return probe(id, line, now);
  if (!line) throw ProtocolError{"a core was answered about a line it did not ask for"};
  if (m.kind == Kind::PutAck) {
    const uint64_t number = m.line;
    client_cell(engine.protocol(), line->copy.state, ClientEvent::PutAck, number);
    lines.erase(*line);
    engine.packets.drop(id);
    progress(number, now);
    return;
  }
  fill(packet, *line, now);
  engine.packets.drop(id);
}

// How long a probe of an owned line waits: for the winner's hold, and for an atomic begun in it.
Time Core::deferral(const Msg& m, const Line* line) const {
  if (!line || m.kind == Kind::Inv || !writable(line->copy.state)) return 0;
  return std::max(line->held_until, line->guarded ? line->locked_until : 0);
}

void Core::defer(PacketId id, Line* line, Time until) {
  Packet& packet = engine.packets[id];
  if (packet.retry == 0) {  // newly stalled
    stalled_.push_back(id);
    ++line->stalled;
    ++in_flight;
  }
  if (packet.retry == until) return;
  packet.retry = until;
  if (until != kNever) engine.schedule_retry(id, until);
}

void Core::probe(PacketId id, Line* line, Time now) {
  const Msg m = engine.packets[id].message;
  const Copy copy = line ? line->copy : Copy{};
  const ClientEvent event = copy.event(m);
  const Cell cell = client_cell(engine.protocol(), copy.state, event, m.line);
  if (cell.has(Act::stall)) return defer(id, line, kNever);
  const Time until = deferral(m, line);
  if (until > now) return defer(id, line, until);
  const bool has = line && holds_copy(copy.state);
  send_time_ = now + spec.l2_hit;
  if (has) engine.note_probed(m.kind);
  if (has && engine.attribution)
    engine.attribution->probed(agent, m.line, m.kind != Kind::ProbeS, copy.state, cell.next());
  answer_probe(*this, agent, m, cell, has ? &line->data : nullptr, has);
  engine.packets.drop(id);
  if (!line) return;
  ++disturbances;
  if (line->watchers && !engine.may_load(cell.next())) wake_watchers(*line, now, 0);
  line->copy.state = cell.next();
  const State s = line->copy.state;
  if (s == State::I || s == State::IM || s == State::II) lost(m.line);
  if (s == State::I && line->stalled == 0)
    lines.erase(*line);
  else if (s == State::IM)
    lines.unsettle(*line);
}

void Core::lost(uint64_t number) {
  for (const auto& t : threads)
    if (t->reservation == number) t->reservation = Thread::kNoLine;
}

void Core::reconsider(PacketId id, Time now) {
  Packet& packet = engine.packets[id];
  if (!packet.live || packet.retry != now) return;
  packet.retry = 0;
  std::erase(stalled_, id);
  --in_flight;
  Line* line = lines.find(packet.message.line);
  if (line) --line->stalled;
  probe(id, line, now);
}

void Core::retry_stalled(uint64_t number, Time now) {
  for (std::size_t i = 0; i < stalled_.size(); ++i) {
    const PacketId id = stalled_[i];
    Packet& packet = engine.packets[id];
    if (packet.message.line != number || packet.retry != kNever) continue;
    Line* line = lines.find(number);
    const Time until = std::max(now + 1, deferral(packet.message, line));
    packet.retry = until;
    engine.schedule_retry(id, until);
  }
}

void Core::fill(Packet& packet, Line& line, Time now) {
  const Msg& m = packet.message;
  const Cell cell = client_cell(engine.protocol(), line.copy.state, line.copy.event(m), m.line);
  if (cell.has(Act::fill)) {
    line.data = m.data;
    engine.note_transfer(*this, packet.origin, m.line);
  }
  send_time_ = now;
  if (cell.has(Act::done)) complete(*this, agent, m);
  line.copy.state = cell.next();
  if (cell.has(Act::GetM)) return request(line, cell, now);
  if (engine.attribution) engine.attribution->filled(agent, m.line, line.copy.state);
  if (!line.resident) {
    make_room(line, now);
    lines.settle(line);
  }
  use(line, now);
  if (line.copy.state == State::M) line.held_until = now + spec.hold;
  line.locked_until = 0;
  const uint64_t number = m.line;
  progress(number, now);
  retry_stalled(number, now);
}

// Evicts the least recently used lines of the set until one more fits.
void Core::make_room(const Line& incoming, Time now) {
  const auto may_go = [&](const Line& l) {
    return l.copy.state != State::I && l.copy.state <= State::O && l.stalled == 0 &&
           l.held_until <= now && l.locked_until <= now;
  };
  refresh(incoming.number, now);
  while (Line* victim = lines.victim(incoming.number, may_go)) {
    if (victim->watchers) wake_watchers(*victim, now, actor());
    evict(*victim, now);
  }
}

void Core::evict(Line& victim, Time now) {
  const Cell cell =
      client_cell(engine.protocol(), victim.copy.state, ClientEvent::Evict, victim.number);
  ++disturbances;
  lost(victim.number);
  if (engine.attribution) engine.attribution->evicted(agent, victim.number);
  if (cell.has(Act::drop)) return lines.erase(victim);
  victim.copy.state = cell.next();
  lines.unsettle(victim);
  Msg m;
  m.kind = Kind::Put;
  m.from = m.requester = agent;
  m.to = m.resolver = engine.resolver_above(agent, victim.number, agent);
  m.line = victim.number;
  m.id = ++requests_;
  m.carries = true;
  m.data = victim.data;
  send_time_ = now + spec.l2_hit;
  send(m);
}

// The state of a line changed: drain what can drain, perform what can be performed.
void Core::progress(uint64_t number, Time now) {
  for (const auto& t : threads)
    if (!t->buffer.empty() && t->buffer.head().line() == number) drain(*t, now);
  for (Thread* t = next_waiting(number, nullptr); t; t = next_waiting(number, t)) attempt(*t, now);
  schedule_next();
}

// Who waits for the line next, in the order of issue.
Thread* Core::next_waiting(uint64_t number, const Thread* after) const {
  Thread* next = nullptr;
  const auto earlier = [](const Thread& a, const Thread& b) {
    return std::tie(a.since, a.index) < std::tie(b.since, b.index);
  };
  for (const auto& t : threads) {
    const bool waits = t->mode == Thread::Mode::waiting && t->pending.kind != Access::Kind::none &&
                       t->pending.line() == number;
    if (waits && (!after || earlier(*after, *t)) && (!next || earlier(*t, *next))) next = t.get();
  }
  return next;
}

// Makes the oldest stores visible, as many as have their lines; asks for the next one's.
void Core::drain(Thread& thread, Time now) {
  StoreBuffer& buffer = thread.buffer;
  while (!buffer.empty() &&
         (buffer.head().is_atomic() ? drain_atomics(thread, now) : drain_store(thread, now))) {
  }
  // Whoever waited for the buffer (a full one, an empty one, a conflict) looks again.
  if (thread.mode == Thread::Mode::waiting) attempt(thread, now);
}

// The oldest is a store. False: it waits for its line.
bool Core::drain_store(Thread& thread, Time now) {
  const Store& s = thread.buffer.head();
  Time cost = 0;
  Line* line = ready(s.line(), ClientEvent::Store, now, cost);
  if (!line) {
    if (engine.attribution) engine.attribution->missed_store(thread.id);
    return false;
  }
  if (engine.attribution) observe_drained(thread, now);
  written(*line, now, thread);
  line->data.write(s.address % kLineBytes, s.size, s.value);
  thread.buffer.pop();
  return true;
}

// The oldest is a posted atomic. It is done here if the core has got its line meanwhile; else it is
// sent, and so are those for the same line behind it: one path keeps them in order (F5). False: it
// is under way.
bool Core::drain_atomics(Thread& thread, Time now) {
  const Store& oldest = thread.buffer.head();
  if (oldest.done || (!oldest.asked && !goes_far(oldest.line()))) {
    Time cost = 0;
    Line* line = oldest.done ? nullptr : ready(oldest.line(), ClientEvent::Amo, now, cost);
    if (!oldest.done && !line) return false;
    if (engine.attribution) observe_drained(thread, now);
    if (line) {
      Outcome unused;
      written(*line, now, thread);
      operate(oldest.atomic, line->data, unused);
    }
    thread.buffer.pop();
    return true;
  }
  for (Store& s : thread.buffer.entries()) {
    if (!s.is_atomic() || s.line() != oldest.line() || !goes_far(s.line())) break;
    if (s.asked) continue;
    s.asked = ask_far(s.atomic, now);
    if (engine.attribution) engine.attribution->missed_store(thread.id);
  }
  return false;
}

void Core::attempt(Thread& thread, Time now) {
  if (thread.pending.kind == Access::Kind::none) return;
  Outcome out;
  const Time then = std::max(now, thread.hart.clock);
  if (!perform(thread, thread.pending, then, out)) return waits(thread, now, actor());
  if (engine.attribution) engine.attribution->resumed(thread.id, then - thread.since);
  thread.pending = Access{};
  thread.hart.clock = then + out.cost;
  resume(thread, out.value, out.high, now);
}

// Its access could not be performed: it waits for memory, or executes it again after a lock.
void Core::waits(Thread& thread, Time now, uint32_t by) {
  if (thread.mode == Thread::Mode::stopped) return;
  thread.mode = thread.tries ? Thread::Mode::running : Thread::Mode::waiting;
  if (thread.tries) thread.hart.clock = thread.tries;
  share_issue(now, by);
}

// What a waiting hart waited for has come, at `now`.
void Core::resume(Thread& thread, uint64_t value, uint64_t high, Time now) {
  thread.hart.clock = std::max(thread.hart.clock, now);
  thread.hart.resume(value, high);
  thread.mode = Thread::Mode::running;
  share_issue(now, 0);
}

}  // namespace uncore
