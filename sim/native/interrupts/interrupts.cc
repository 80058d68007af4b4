// Interprocessor interrupts, timers, and the registers behind them (rules I1 to I5): the engine's
// part.
//
// An IPI is a message like any other: its latency depends on where the two harts sit and on the
// traffic between them. So is whatever else a hart does to a register at another core.
#include <utility>

#include "engine/engine.hh"

namespace uncore {

void Engine::send_many(Thread& from, Time when) {
  std::vector<uint32_t> harts;
  for (uint32_t h = 0; h < threads_.size(); ++h)
    if (from.multicast.size() > h / 64 && from.multicast[h / 64] >> h % 64 & 1) harts.push_back(h);
  from.multicast.clear();
  if (!harts.empty()) network.send_many(std::move(harts), from.core.agent, when);
}

// The message has arrived and the controller has accepted it.
void Engine::at_register(PacketId id, Time now) {
  const Packet p = packets[id];
  Core& core = *cores_[p.message.to];
  network.arrived(core.agent);
  packets.drop(id);
  if (p.device == Device::write) return write_register(p.target, p.value, now);
  Core& reader = threads_[p.reader]->core;
  if (p.device == Device::value) return reader.answered(*threads_[p.reader], {p.value}, now);
  network.send_register(Device::value, p.target, read_register(p.target), core.agent, reader.agent,
                        p.reader, now);
}

uint64_t Engine::read_register(Register r) const { return clints_[r.index].read(r.kind); }

void Engine::write_register(Register r, uint64_t value, Time now) {
  Thread& thread = *threads_[r.index];
  const Clint::Change change = clints_[r.index].write(r.kind, value, now / 1000);
  thread.core.interrupt(thread.index, change.bit, change.level, now);
  if (!change.alarm || *change.alarm > kNever / 1000) return;
  const Time alarm = *change.alarm * 1000;
  thread.core.shorten(alarm);
  const auto agent = static_cast<uint64_t>(thread.core.agent);
  queue.push(alarm, event_place(agent, kInterruptClass, 0),
             event_sender(agent, network.next_sent(thread.core.agent)), Action::expire, thread.id);
}

void Engine::expire(Thread& thread, Time now) {
  if (clints_[thread.id].mtimecmp() * 1000 == now)
    thread.core.interrupt(thread.index, kTimer, true, now);
}

}  // namespace uncore
