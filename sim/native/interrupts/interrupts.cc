// Interprocessor interrupts and timers (rules I1 to I3): the engine's part.
//
// An IPI is a message like any other: its latency depends on where the two harts sit and on the
// traffic between them. MSIP[h] lives at hart h's core; a second IPI merges while it is pending.
#include "engine/engine.hh"

namespace uncore {
namespace {

constexpr unsigned kSoftware = 3, kTimer = 7;  // bits of mip

}  // namespace

void Engine::send_ipi(Thread& from, uint32_t target, Time when) {
  if (target >= threads_.size()) return;  // a hart the job does not have
  Core& to = threads_[target]->core;
  const PacketId id = packets.take();
  Packet& p = packets[id];
  p.message = Message<Bytes>{};
  p.message.to = to.agent;
  p.message.id = target;
  p.interrupt = true;
  p.route = &fabric_.route(from.core.stop, to.stop);
  p.hop = 0;
  p.place = event_place(static_cast<uint64_t>(to.agent), kInterruptClass, target);
  p.sender = event_sender(static_cast<uint64_t>(from.core.agent), ++from.core.sent);
  ++to.in_flight;
  travel(id, when);
}

// The message has arrived and the controller has accepted it.
void Engine::accept_ipi(PacketId id, Time now) {
  const uint32_t target = packets[id].message.id;
  Core& core = *cores_[packets[id].message.to];
  --core.in_flight;
  packets.drop(id);
  software_[target] = true;
  core.interrupt(threads_[target]->index, kSoftware, true, now);
}

void Engine::set_timer(Thread& thread, uint64_t value, Time now) {
  thread.timer = value;
  const bool due = value <= now / 1000;
  thread.hart.interrupt(kTimer, due);
  if (due || value > kNever / 1000) return;
  queue_.push({value * 1000,
               event_place(static_cast<uint64_t>(thread.core.agent), kInterruptClass, 0),
               event_sender(static_cast<uint64_t>(thread.core.agent), ++thread.core.sent), kExpire,
               thread.id});
}

void Engine::clear_software(uint64_t target, Time) {
  software_[target] = false;
  threads_[target]->hart.interrupt(kSoftware, false);
}

void Engine::expire(Thread& thread, Time now) {
  if (thread.timer * 1000 == now) thread.core.interrupt(thread.index, kTimer, true, now);
}

}  // namespace uncore
