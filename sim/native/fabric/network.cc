#include "fabric/network.hh"

#include <algorithm>
#include <array>
#include <utility>

namespace uncore {
namespace {

// Returns whether a message of this kind has the size `snoop` when it carries no data.
constexpr bool is_snoop(Kind k) { return is_probe(k) || k == Kind::Answer || k == Kind::Unblock; }

// The class (T2.2) and the size without data of each kind of message.
struct KindProperties {
  uint8_t cls;
  Size size;
};
constexpr auto kKindProperties = [] {
  std::array<KindProperties, name::messages.size()> all{};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto kind = static_cast<Kind>(k);
    all[k] = {static_cast<uint8_t>(class_of(kind)), is_snoop(kind) ? Size::snoop : Size::control};
  }
  return all;
}();

}  // namespace

uint64_t Network::crossings() const {
  uint64_t all = 0;
  for (const Channel& channel : fabric_.channels)
    for (const uint64_t of_size : channel.taken) all += of_size;
  return all;
}

inline void Network::go(const Packet& p, Time head) {
  const auto [time, action] = onward(p, head);
  queue_.push(time, p, action);
}

void Network::send(const Message<Bytes>& m, Time when, Agent origin) {
  Packet& p = packets.take();
  p.message.assign(m);
  if (is_request(m.kind)) p.message.since = when;
  const KindProperties properties = kKindProperties[static_cast<std::size_t>(m.kind)];
  const auto [from, to] = map_.ends(m.from, m.to, m.line);
  p.device = Device::none;
  p.size = m.carries ? Size::data : properties.size;
  p.origin = origin;
  p.goal = to;
  p.leg = fabric_.route(from, to, map_.ordinal(m.line));
  p.tail = 0;
  p.retry = 0;
  p.place = event_place(static_cast<uint64_t>(m.to), properties.cls, m.line);
  p.sender = event_sender(static_cast<uint64_t>(m.from), next_sent(m.from));
  if (agents_.is_core(m.to)) expect(m.to);
  observer_.sent(p.number, m, when);
  if (map_.costs_nothing(m.line)) [[unlikely]]
    return queue_.push(when + 1, p, Action::arrive);
  go(p, when);
}

void Network::send_register(Device device, Register target, uint64_t value, Agent from, Agent to,
                            uint32_t reader, Time when) {
  Packet& p = packets.take();
  static_cast<Header&>(p.message) = Header{};
  p.message.from = from;
  p.message.to = to;
  p.size = Size::control;
  p.device = device;
  p.target = target;
  p.value = value;
  p.reader = reader;
  p.goal = map_.stop(to, 0);
  p.leg = fabric_.route(map_.stop(from, 0), p.goal);
  p.tail = 0;
  p.place = register_rank(to, target.hart());
  p.sender = event_sender(static_cast<uint64_t>(from), next_sent(from));
  expect(to);
  observer_.sent_register(p.number, static_cast<unsigned>(device), p.message, p.target.index, when);
  go(p, when);
}

// --- messages to several harts (rule I5) -----------------------------------------------------

// Sends one message to several harts. It occupies a channel once for all harts whose routes share
// it.
void Network::send_many(std::vector<uint32_t> harts, Agent from, Time when) {
  Packet& p = packets.take();
  static_cast<Header&>(p.message) = Header{};
  p.message.from = from;
  p.size = Size::control;
  p.device = Device::write;
  p.value = 1;
  p.tail = 0;
  p.sender = event_sender(static_cast<uint64_t>(from), next_sent(from));
  for (uint32_t h : harts) expect(agents_.core_of(h));
  p.target = {Register::Kind::msip, harts.back()};
  harts.pop_back();
  p.others = std::move(harts);
  fork(p, when, Leg::kNone);
}

// Splits a message into one message for each group of harts that share the next channel. The lowest
// hart of a group determines the message's position in the order of events (T2). `crossed` is the
// last link with a channel that the message has passed, or Leg::kNone.
void Network::fork(Packet& packet, Time head, int32_t crossed) {
  std::vector<uint32_t> harts = std::exchange(packet.others, {});
  harts.push_back(packet.target.index);
  std::ranges::sort(harts);
  const std::vector<std::vector<uint32_t>> parts = part(packet, harts, crossed);
  for (const std::vector<uint32_t>& group : parts) {
    Packet& p = &group == &parts.back() ? packet : packets.copy(packet);
    const uint32_t first = group[0];
    p.leg = next_leg(p, first, crossed);
    p.message.to = agents_.core_of(first);
    p.target = {Register::Kind::msip, first};
    p.others.assign(group.begin() + 1, group.end());
    p.goal = p.others.empty() ? map_.stop(p.message.to, 0) : Packet::kSeveral;
    p.place = register_rank(p.message.to, first);
    observer_.sent_register(p.number, static_cast<unsigned>(p.device), p.message, first, head);
    go(p, head);
  }
}

// Groups harts by the next link with a channel on the routes to them.
std::vector<std::vector<uint32_t>> Network::part(const Packet& p,
                                                 const std::vector<uint32_t>& harts,
                                                 int32_t crossed) {
  const auto share_next_link = [&](uint32_t a, uint32_t b) {
    const int32_t link = next_leg(p, a, crossed)->link;
    return link != Leg::kNone && link == next_leg(p, b, crossed)->link;
  };
  std::vector<std::vector<uint32_t>> parts;
  for (uint32_t h : harts) {
    const auto same =
        std::ranges::find_if(parts, [&](auto& part) { return share_next_link(part[0], h); });
    if (same == parts.end())
      parts.push_back({h});
    else
      same->push_back(h);
  }
  return parts;
}

// Returns the message's next leg to a hart: the one after the link `crossed`, or the first one.
const Leg* Network::next_leg(const Packet& p, uint32_t hart, int32_t crossed) {
  const int32_t stop = map_.stop(agents_.core_of(hart), 0);
  if (crossed != Leg::kNone) return fabric_.leg_after(crossed, stop);
  return fabric_.route(map_.stop(p.message.from, 0), stop);
}

}  // namespace uncore
