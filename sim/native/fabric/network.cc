#include "fabric/network.hh"

#include <algorithm>
#include <utility>

namespace uncore {
namespace {

Size size_of(const Message<Bytes>& m) {
  if (m.carries) return Size::data;
  const bool snoop = is_probe(m.kind) || m.kind == Kind::Answer || m.kind == Kind::Unblock;
  return snoop ? Size::snoop : Size::control;
}

}  // namespace

inline void Network::go(PacketId id, const Packet& p, Time head) {
  const Time reach = (*p.leg)[p.size].reach;
  if (p.leg->next) return queue_.push(head + reach, p.place, p.sender, Action::hop, id);
  Time whole = head + reach + p.tail;
  const bool device = p.device != Device::none;
  if (device && p.device != Device::value) whole += accept_;
  queue_.push(whole, p.place, p.sender, device ? Action::reach : Action::arrive, id);
}

inline void Network::travel(PacketId id, Packet& p, Time head) {
  if (p.forks()) [[unlikely]]
    return fork(id, head);
  go(id, p, head);
}

void Network::send(const Message<Bytes>& m, Time when, Agent origin) {
  const PacketId id = packets.take();
  Packet& p = packets[id];
  p.message.assign(m);
  if (is_request(m.kind)) p.message.since = when;
  p.device = Device::none;
  p.size = size_of(m);
  p.origin = origin;
  p.leg = fabric_.route(places_.stop(m.from, m.line), places_.stop(m.to, m.line));
  p.tail = 0;
  p.retry = 0;
  p.place = event_place(static_cast<uint64_t>(m.to), class_of(m.kind), m.line);
  p.sender = event_sender(static_cast<uint64_t>(m.from), next_sent(m.from));
  if (agents_.is_core(m.to)) expect(m.to);
  observer_.sent(id, m, when);
  if (places_.free(m.line)) [[unlikely]]
    return queue_.push(when + 1, p.place, p.sender, Action::arrive, id);
  go(id, p, when);
}

void Network::send_register(Device device, Register target, uint64_t value, Agent from, Agent to,
                            uint32_t reader, Time when) {
  const PacketId id = packets.take();
  Packet& p = packets[id];
  p.message = Message<Bytes>{};
  p.message.from = from;
  p.message.to = to;
  p.size = Size::control;
  p.device = device;
  p.target = target;
  p.value = value;
  p.reader = reader;
  p.leg = fabric_.route(places_.stop(from, 0), places_.stop(to, 0));
  p.tail = 0;
  p.place = register_rank(to, target.hart());
  p.sender = event_sender(static_cast<uint64_t>(from), next_sent(from));
  expect(to);
  observer_.sent_register(id, static_cast<unsigned>(device), p.message, p.target.index, when);
  go(id, p, when);
}

void Network::cross(PacketId id, Time now) {
  Packet& p = packets[id];
  for (;;) {
    const Time start = take_channel(id, p, now);
    const Leg& leg = *p.leg;
    if (!leg.next || p.forks()) return travel(id, p, start);
    now = start + leg[p.size].reach;
    if (!queue_.pass_to(now, p.place, p.sender))
      return queue_.push(now, p.place, p.sender, Action::hop, id);
  }
}

// When the head goes on.
inline Time Network::take_channel(PacketId id, Packet& p, Time now) {
  ++crossings;
  const Leg& leg = *p.leg;
  const Time busy = leg[p.size].busy;
  Channel& channel = fabric_.channels[leg.channel];
  const Time start = std::max(now, channel.free);
  channel.free = start + busy;
  channel.used += busy;
  ++channel.taken[static_cast<std::size_t>(p.size)];
  p.tail = std::max(p.tail, busy);
  observer_.crossed(id, leg.link, now, start);
  p.crossed = leg.link;
  p.leg = leg.next;
  return start;
}

// --- to many (rule I5) ------------------------------------------------------------------------

// It is sent once, and takes a channel once for all whose route leads through it.
void Network::send_many(std::vector<uint32_t> harts, Agent from, Time when) {
  const PacketId id = packets.take();
  Packet& p = packets[id];
  p.message = Message<Bytes>{};
  p.message.from = from;
  p.size = Size::control;
  p.device = Device::write;
  p.value = 1;
  p.crossed = Leg::kNone;
  p.tail = 0;
  p.sender = event_sender(static_cast<uint64_t>(from), next_sent(from));
  for (uint32_t h : harts) expect(agents_.core_of(h));
  p.target = {Register::Kind::msip, harts.back()};
  harts.pop_back();
  p.others = std::move(harts);
  fork(id, when);
}

// The lowest hart of those that go together stands for them (T2).
void Network::fork(PacketId id, Time head) {
  Packet& whole = packets[id];
  std::vector<uint32_t> harts = std::exchange(whole.others, {});
  harts.push_back(whole.target.index);
  std::ranges::sort(harts);
  const std::vector<std::vector<uint32_t>> parts = part(whole, harts);
  for (const std::vector<uint32_t>& together : parts) {
    const PacketId branch = &together == &parts.back() ? id : packets.take();
    Packet& p = packets[branch];
    if (branch != id) p = whole;
    const uint32_t first = together[0];
    p.leg = way(whole, first);
    p.message.to = agents_.core_of(first);
    p.target = {Register::Kind::msip, first};
    p.others.assign(together.begin() + 1, together.end());
    p.place = register_rank(p.message.to, first);
    observer_.sent_register(branch, static_cast<unsigned>(p.device), p.message, first, head);
    go(branch, p, head);
  }
}

// Harts whose route goes on by the same link with a channel stay together; the others part here.
std::vector<std::vector<uint32_t>> Network::part(const Packet& p,
                                                 const std::vector<uint32_t>& harts) {
  const auto together = [&](uint32_t a, uint32_t b) {
    const int32_t link = way(p, a)->link;
    return link != Leg::kNone && link == way(p, b)->link;
  };
  std::vector<std::vector<uint32_t>> parts;
  for (uint32_t h : harts) {
    const auto same = std::ranges::find_if(parts, [&](auto& part) { return together(part[0], h); });
    if (same == parts.end())
      parts.push_back({h});
    else
      same->push_back(h);
  }
  return parts;
}

// The leg on which it goes on to a hart: behind the link that it passed last, or from its sender.
const Leg* Network::way(const Packet& p, uint32_t hart) {
  const int32_t stop = places_.stop(agents_.core_of(hart), 0);
  if (p.crossed != Leg::kNone) return fabric_.beyond(p.crossed, stop);
  return fabric_.route(places_.stop(p.message.from, 0), stop);
}

}  // namespace uncore
