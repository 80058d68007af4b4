#include "core/load_store_unit.hh"

#include "core/core.hh"
#include "core/thread_port.hh"
#include "hart/preexecution.hh"

namespace uncore {
namespace {

// Returns the event that asks the client for the right which the access needs (C1, C8).
constexpr ClientEvent wish_of(const Access& a, const CoreSpec& spec) {
  if (a.kind == Access::Kind::load) return ClientEvent::Load;
  if (a.kind == Access::Kind::lr && !spec.lr_exclusive) return ClientEvent::Load;
  if (a.operates() && spec.far_atomics) return ClientEvent::Amo;
  return ClientEvent::Store;
}

}  // namespace

bool LoadStoreUnit::perform(Thread& thread, const Access& a, Time now, Outcome& out) {
  using K = Access::Kind;
  if (thread.pending.request) return false;
  if (a.posted && thread.weak && !core_.spec.far_atomics)  // H8.10
    return core_.stores->store(thread, a, now, out);
  if (a.posted && !thread.weak && core_.far_atomics.goes_far(a))
    return core_.far_atomics.post(thread, a, now);
  if (!thread.buffer.empty() && core_.stores->must_drain_before(thread, a)) return false;
  switch (a.kind) {
    case K::none:
      return true;
    case K::fence:
      core_.stores->fence(thread, a, now);
      out.cost = thread.pass_fence(a.order >> 4, a.order & 15);
      return true;
    case K::write:
    case K::read:
      return reach_register(thread, a, now, out);
    case K::store:
      return core_.stores->store(thread, a, now, out);
    case K::load:
      return load(thread, a, now, out);
    case K::sc:
      if (thread.reservation.line == a.line)
        return in_cache(thread, a, core_.lines.find(a.line), now, out);
      return fail_sc(thread, a, now, out);
    default:
      return atomic(thread, a, now, out);
  }
}

[[gnu::noinline]] bool LoadStoreUnit::stays_inside(const Thread& thread, const Access& a,
                                                   Time now) {
  using K = Access::Kind;
  if (!thread.buffer.empty() || a.kind < K::load || a.kind > K::sc) return false;
  if (a.kind == K::sc && thread.reservation.line != a.line) return false;
  const Line* const line = core_.lines.find(a.line);
  if (!line || !line->resident || line->is(StoreObstacle::contended)) return false;
  if (a.kind == K::load) return core_.context.protocol.may_load(line->copy.state);
  if (!core_.context.protocol.may_store(line->copy.state)) return false;
  if (a.kind == K::store) return true;
  return !core_.far_atomics.goes_far(a) && line->stalled == 0 && line->locked_until <= now &&
         core_.locks.concern_nobody(thread);
}

// Rule H9: while the hart's load waits, the core requests the lines of the loads that follow it.
void LoadStoreUnit::pre_execute(Thread& thread) {
  const Time began = thread.hart.clock, each = thread.hart.cost.instruction;
  PreExecution(thread.hart)
      .go(core_.spec.window, [&](uint64_t address, unsigned size, unsigned count) {
        return foresee(thread, address, size, began + count * each);
      });
}

ForeseenLoad LoadStoreUnit::foresee(Thread& thread, uint64_t address, unsigned size, Time at) {
  address = core_.context.map.place(address);
  const uint64_t number = core_.lines.size.number(address);
  if (number == thread.pending.line) return {.what = ForeseenLoad::What::end};
  uint64_t buffered = 0;
  const bool crosses = core_.lines.size.number(address + size - 1) != number;
  if (crosses || thread.buffer.search(address, size, buffered) != StoreBuffer::Match::nothing)
    return {};
  Line* const line = core_.lines.find(number);
  if (line && core_.context.protocol.may_load(line->copy.state))
    return {ForeseenLoad::What::value, line->data().read(core_.lines.size.offset(address), size)};
  Time lookup = 0;
  if (core_.caches.under_way() < core_.spec.misses)
    core_.caches.find_or_request(thread, number, line, ClientEvent::Load, at, lookup);
  return {};
}

// Accesses a register of another core (I1, I4.2).
bool LoadStoreUnit::reach_register(Thread& thread, const Access& a, Time now, Outcome& out) {
  Interrupts& interrupts = core_.context.interrupts;
  const Register target = *interrupts.register_of(a.address);
  core_.turns.shorten(thread.hart.clock);  // the message or its answer may concern this core
  if (a.kind == Access::Kind::write) {
    out.cost = core_.turns.time_when_shared(thread, core_.context.machine.interrupt.send);
    interrupts.send_write(target, a.value, thread.id, now + out.cost);
    return true;
  }
  interrupts.send_read(target, thread.id, now);
  thread.pending.request = PendingAccess::kRegister;
  return false;
}

// Performs a load: its value comes from the hart's store buffer (H3.3) or from the cache.
[[gnu::always_inline]] inline bool LoadStoreUnit::load(Thread& thread, const Access& a, Time now,
                                                       Outcome& out) {
  const auto match = thread.buffer.search(a.address, a.size, out.value);
  out.cost = core_.spec.l1_hit;
  if (match == StoreBuffer::Match::value && core_.stores->try_forward(thread, a)) {
    thread.iteration.varies = true;
    return true;
  }
  if (match != StoreBuffer::Match::nothing) return false;
  if (LoadsAhead::take_overtaken(thread, a.line)) {
    out.cost += core_.spec.mispredict;
    thread.iteration.varies = true;  // a sleeping hart could not repeat this iteration
  }
  return in_cache(thread, a, core_.lines.find(a.line), now, out);
}

// Performs an AMO or an LR in the cache, where it may find the line locked (C6), or sends an AMO to
// the resolver, where there are no locks (C8.10).
[[gnu::always_inline]] inline bool LoadStoreUnit::atomic(Thread& thread, const Access& a, Time now,
                                                         Outcome& out) {
  core_.locks.unlock(thread, now);
  LoadsAhead::note_atomic(thread);
  const bool goes_far = core_.far_atomics.goes_far(a);
  Line* const line = core_.lines.find(a.line);
  if (line) {
    if (line->watchers) core_.sleep.wake_lockers(*line, now);
    const bool may_store = core_.context.protocol.may_store(line->copy.state);
    if (may_store && !goes_far && !core_.locks.try_begin(thread, *line, now)) return false;
  }
  out.cost = core_.spec.atomic + core_.locks.take_restart_cost(thread);
  if (!goes_far) return in_cache(thread, a, line, now, out);
  core_.far_atomics.send(thread, a, now);
  return false;
}

// Fails an SC that has no reservation (C7).
bool LoadStoreUnit::fail_sc(Thread& thread, const Access& a, Time now, Outcome& out) {
  out.value = 1;
  core_.locks.end_attempt(thread, now);
  const Services& services = core_.context.services;
  core_.context.counters.scs.failed(a.line, services.progress(), services.counts(thread.id, now));
  if (core_.observed)
    core_.observed->failed_sc(thread.id, core_.agent, a.line, thread.hart.pc, now);
  return true;
}

[[gnu::always_inline]] inline bool LoadStoreUnit::in_cache(Thread& thread, const Access& a,
                                                           Line* line, Time now, Outcome& out) {
  Time lookup = 0;
  line = core_.caches.find_or_request(thread, a.line, line, wish_of(a, core_.spec), now, lookup);
  if (!line) {
    if (core_.observed) core_.observed->missed(thread.id);
    return false;
  }
  out.cost += lookup;
  thread.iteration.varies |= lookup > 0;
  apply(thread, a, *line, now, out);
  return true;
}

// Performs the access on a line for which the core has the right.
void LoadStoreUnit::apply(Thread& thread, const Access& a, Line& line, Time now, Outcome& out) {
  if (core_.observed) core_.observed.access(thread, a, now, line.data());
  if (a.kind == Access::Kind::load) {
    LoadsAhead::note_load(thread, line.number);
    if (thread.slow_path.recording) {
      thread.slow_path.recording = thread.hart.may_wait();
      thread.iteration.watch(line.number);
    }
  }
  if (a.writes()) core_.before_write(line, now, thread);
  if (thread.weak) [[unlikely]]
    return core_.stores->apply(thread, a, line, now, out);
  operate(thread, a, line, now, out);  // Stores::apply(), without a virtual call
}

void LoadStoreUnit::operate(Thread& thread, const Access& a, Line& line, Time now, Outcome& out) {
  using K = Access::Kind;
  const Bytes data = line.data();
  const unsigned offset = a.offset();
  switch (a.kind) {
    case K::amo:
    case K::cas_pair:
      out.answer(a.operation().apply(data));
      return core_.locks.lock(thread, line, now + out.cost);
    case K::lr:
      out.value = data.read(offset, a.size);
      return core_.locks.reserve(thread, line, now, out.cost);
    case K::store:
      return data.write(offset, a.size, a.value);
    case K::sc:
      data.write(offset, a.size, a.value);
      out.value = 0;
      return core_.locks.end_attempt(thread, now);
    default:
      out.value = data.read(offset, a.size);
  }
}

}  // namespace uncore
