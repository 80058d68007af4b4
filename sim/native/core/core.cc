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

// The line with the right that `wish` needs, or null: requested, in a state that must pass, or
// another hart's for the time being (C9).
Line* Core::ready(const Thread& thread, uint64_t number, ClientEvent wish, Time now, Time& cost) {
  Line* line = lines.find(number);
  const State state = line ? line->copy.state : State::I;
  const Cell cell = client_cell(engine.protocol(), state, wish, number);
  if (cell.has(Act::stall)) return nullptr;
  if (!line) line = &lines.insert(number);
  if (!cell.has(Act::hit)) {
    if (line->watchers) wake_watchers(*line, now, actor());
    line->contended.asked(thread.index);
    request(*line, cell, now + spec.l2_hit);
    return nullptr;
  }
  if (wish != ClientEvent::Load && line->contended.bars(thread.index) && thread.locked != number)
    return nullptr;
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
        if (Line* line = ready(thread, a.line(), ClientEvent::Store, now, cost)) {
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
    line = ready(thread, a.line(), wish, now, lookup);
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
      if (engine.may_store(line->copy.state)) {
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
// who has waited for its own to end: then it tries again. Nor while the line is another's (C9):
// then it waits.
bool Core::may_begin(Thread& thread, uint64_t number, Time now) {
  unlock(thread, now);
  const Line* line = lines.find(number);
  if (!line || !engine.may_store(line->copy.state)) return true;
  if (line->contended.bars(thread.index)) return false;
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
  engine.network.send(m, send_time_, agent);
  shorten(send_time_ + reach - 1);
}

// Sends word to the core where a register stands.
void Core::tell(Thread& thread, Device device, const Access& a, Time when) {
  const Register target = *engine.register_of(a.address);
  shorten(thread.hart.clock);  // it, or its answer, may be for this core
  if (target.kind == Register::Kind::send) return engine.send_many(thread, when);
  engine.network.send_register(device, target, a.value, agent, engine.agents.core_of(target.index),
                               thread.id, when);
}

// --- waiting, and going on ----------------------------------------------------------------------

void Core::attempt(Thread& thread, Time now) {
  if (thread.pending.kind == Access::Kind::none) return;
  thread.tries = 0;
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

void Core::answered(Thread& thread, const Outcome& out, Time now) {
  thread.asked = 0;
  if (engine.attribution) observe_answered(thread, now);
  thread.pending = Access{};
  resume(thread, out.value, out.high, now);
  schedule_next();
}

}  // namespace uncore
