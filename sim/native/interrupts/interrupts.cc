// Interprocessor interrupts, timers, and the registers behind them (rules I1 to I4): the engine's
// part.
//
// An IPI is a message like any other: its latency depends on where the two harts sit and on the
// traffic between them. So is whatever else a hart does to a register at another core.
#include "engine/engine.hh"

namespace uncore {
namespace {

constexpr unsigned kSoftware = 3, kTimer = 7;  // bits of mip

}  // namespace

void Engine::send_device(Device device, Register target, uint64_t value, const Core& from,
                         const Core& to, uint32_t reader, Time when) {
  const PacketId id = packets.take();
  Packet& p = packets[id];
  p.message = Message<Bytes>{};
  p.message.to = to.agent;
  p.device = device;
  p.target = target;
  p.value = value;
  p.reader = reader;
  p.route = &fabric_.route(from.stop, to.stop);
  p.hop = 0;
  p.place = event_place(static_cast<uint64_t>(to.agent), kInterruptClass, target.hart);
  Core& sender = *cores_[from.agent];
  p.sender = event_sender(static_cast<uint64_t>(sender.agent), ++sender.sent);
  ++cores_[to.agent]->in_flight;
  travel(id, when);
}

// The message has arrived and the controller has accepted it.
void Engine::at_register(PacketId id, Time now) {
  const Packet p = packets[id];
  Core& core = *cores_[p.message.to];
  --core.in_flight;
  packets.drop(id);
  if (p.device == Device::write) return write_register(p.target, p.value, now);
  Core& reader = threads_[p.reader]->core;
  if (p.device == Device::value) return reader.answered(*threads_[p.reader], p.value, now);
  send_device(Device::value, p.target, read_register(p.target), core, reader, p.reader, now);
}

uint64_t Engine::read_register(Register r) const {
  return r.kind == Register::Kind::msip ? software_[r.hart] : threads_[r.hart]->timer;
}

void Engine::write_register(Register r, uint64_t value, Time now) {
  Thread& thread = *threads_[r.hart];
  if (r.kind == Register::Kind::msip) {
    software_[r.hart] = value & 1;
    return thread.core.interrupt(thread.index, kSoftware, value & 1, now);
  }
  thread.timer = value;
  const bool due = value <= now / 1000;
  thread.core.interrupt(thread.index, kTimer, due, now);
  if (due || value > kNever / 1000) return;
  thread.core.shorten(value * 1000);
  const auto agent = static_cast<uint64_t>(thread.core.agent);
  queue_.push({value * 1000, event_place(agent, kInterruptClass, 0),
               event_sender(agent, ++thread.core.sent), kExpire, thread.id});
}

void Engine::expire(Thread& thread, Time now) {
  if (thread.timer * 1000 == now) thread.core.interrupt(thread.index, kTimer, true, now);
}

}  // namespace uncore
