// Interprocessor interrupts, timers, and the registers behind them (rules I1 to I5): the engine's
// part.
//
// An IPI is a message like any other: its latency depends on where the two harts sit and on the
// traffic between them. So is whatever else a hart does to a register at another core.
#include <algorithm>
#include <utility>

#include "engine/engine.hh"

namespace uncore {

void Engine::send_device(Device device, Register target, uint64_t value, const Core& from,
                         const Core& to, uint32_t reader, Time when) {
  const PacketId id = packets.take();
  Packet& p = packets[id];
  p.message = Message<Bytes>{};
  p.size = Size::control;
  p.message.to = to.agent;
  p.device = device;
  p.target = target;
  p.value = value;
  p.reader = reader;
  p.leg = fabric_.route(from.stop, to.stop);
  p.tail = 0;
  p.place = event_place(static_cast<uint64_t>(to.agent), kInterruptClass, target.index);
  Core& sender = *cores_[from.agent];
  p.sender = event_sender(static_cast<uint64_t>(sender.agent), ++sender.sent);
  ++cores_[to.agent]->in_flight;
  travel(id, when);
}

// One message: it is sent once, and takes a channel once for all whose way leads through it.
void Engine::send_many(Thread& from, Time when) {
  std::vector<uint32_t> harts;
  for (uint32_t h = 0; h < threads_.size(); ++h)
    if (from.multicast.size() > h / 64 && from.multicast[h / 64] >> h % 64 & 1) harts.push_back(h);
  from.multicast.clear();
  if (harts.empty()) return;
  const PacketId id = packets.take();
  Packet& p = packets[id];
  p.message = Message<Bytes>{};
  p.size = Size::control;
  p.message.from = from.core.agent;
  p.device = Device::write;
  p.value = 1;
  p.crossed = Leg::kNone;
  p.tail = 0;
  p.sender = event_sender(static_cast<uint64_t>(from.core.agent), ++from.core.sent);
  for (uint32_t h : harts) ++threads_[h]->core.in_flight;
  p.target = {Register::Kind::msip, harts.back()};
  harts.pop_back();
  p.others = std::move(harts);
  fork(id, when);
}

// Whoever's way goes on by the same link with a channel goes on together; the others go their own.
// The lowest hart of those that go together stands for them (T2).
void Engine::fork(PacketId id, Time head) {
  Packet& whole = packets[id];
  std::vector<uint32_t> harts = std::exchange(whole.others, {});
  harts.push_back(whole.target.index);
  std::ranges::sort(harts);
  const auto way = [&](uint32_t h) {
    const int32_t stop = threads_[h]->core.stop;
    if (whole.crossed != Leg::kNone) return fabric_.beyond(whole.crossed, stop);
    return fabric_.route(cores_[whole.message.from]->stop, stop);
  };
  const auto together = [&](uint32_t a, uint32_t b) {
    return way(a)->link != Leg::kNone && way(a)->link == way(b)->link;
  };
  std::vector<std::vector<uint32_t>> parts;
  for (uint32_t h : harts) {
    const auto same = std::ranges::find_if(parts, [&](auto& p) { return together(p[0], h); });
    if (same == parts.end())
      parts.push_back({h});
    else
      same->push_back(h);
  }
  for (const std::vector<uint32_t>& part : parts) {
    const PacketId branch = &part == &parts.back() ? id : packets.take();
    Packet& p = packets[branch];
    if (branch != id) p = whole;
    Thread& first = *threads_[part[0]];
    p.message.to = first.core.agent;
    p.target = {Register::Kind::msip, first.id};
    p.others.assign(part.begin() + 1, part.end());
    p.leg = way(first.id);
    p.place = event_place(static_cast<uint64_t>(first.core.agent), kInterruptClass, first.id);
    go(branch, head);
  }
}

// The message has arrived and the controller has accepted it.
void Engine::at_register(PacketId id, Time now) {
  const Packet p = packets[id];
  Core& core = *cores_[p.message.to];
  --core.in_flight;
  packets.drop(id);
  if (p.device == Device::write) return write_register(p.target, p.value, now);
  Core& reader = threads_[p.reader]->core;
  if (p.device == Device::value) return reader.answered(*threads_[p.reader], {p.value}, now);
  send_device(Device::value, p.target, read_register(p.target), core, reader, p.reader, now);
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
  queue_.push(alarm, event_place(agent, kInterruptClass, 0),
              event_sender(agent, ++thread.core.sent), kExpire, thread.id);
}

void Engine::expire(Thread& thread, Time now) {
  if (clints_[thread.id].mtimecmp() * 1000 == now)
    thread.core.interrupt(thread.index, kTimer, true, now);
}

}  // namespace uncore
