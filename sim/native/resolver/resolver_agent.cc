#include "resolver/resolver_agent.hh"

#include <algorithm>
#include <bit>

namespace uncore {
namespace {

// Returns the number of children that each bit stands for if the pointers' bits are a vector
// (R11.2).
int region_of(const ResolverSpec& spec) {
  const std::size_t children = spec.children.size();
  const auto digits = std::max<std::size_t>(1, std::bit_width(children - 1));
  const std::size_t bits = spec.pointers * digits;
  return static_cast<int>((children + bits - 1) / bits);
}

Policy policy_of(const ResolverSpec& spec) {
  const auto overflow = spec.overflow;
  return {.root = spec.parents.empty(),
          .snoop = spec.knows == ResolverSpec::Knows::snoop,
          .direct = spec.reply == ResolverSpec::Reply::direct,
          .completion = spec.unblock == ResolverSpec::Unblock::completion,
          .keeps_data = spec.data != ResolverSpec::Data::none,
          .inclusive = spec.data == ResolverSpec::Data::inclusive ||
                       spec.knows == ResolverSpec::Knows::inclusive,
          .forwarder = spec.forwarder,
          .grants = static_cast<int>(spec.grants),
          .pointers = static_cast<int>(spec.pointers),
          .region = overflow == ResolverSpec::Overflow::coarse ? region_of(spec) : Policy{}.region,
          .evicts = overflow == ResolverSpec::Overflow::evict};
}

}  // namespace

ResolverAgent::ResolverAgent(const ResolverContext& context, Agent self, const ResolverSpec& spec)
    : context_(context),
      self_(self),
      spec_(spec),
      policy_(policy_of(spec)),
      delays_(spec.turn > 0 || spec.lookup > 0),
      slices_(spec.slices.size()),
      capacity_(context.map.line_size(), spec) {}

Action ResolverAgent::arrive(Packet& packet, Time now) {
  const Msg& m = packet.message;
  if (!(is_request(m.kind) || is_probe(m.kind))) return act(packet, now);
  // An atomic reads and writes the data of its level (C8.2).
  const Time service = spec_.service + (m.kind == Kind::Amo ? spec_.data_hit : 0);
  if (service == 0 || context_.map.costs_nothing(m.line)) return act(packet, now);
  return act_after(packet, slices_.occupy(context_.map.slice(self_, m.line), now, service));
}

inline Action ResolverAgent::act_after(const Packet& p, Time when) {
  if (context_.queue.pass_to(when, p)) return Action::act;
  context_.queue.push(when, p, Action::act);
  return Action::nothing;
}

Action ResolverAgent::act(Packet& packet, Time now) {
  if (delays_) {
    if (const Time more = delay(packet); more > 0) {
      packet.delayed = true;
      return act_after(packet, now + more);
    }
  }
  ResolverAt at(*this, now);
  const Msg& m = packet.message;
  const Agent origin = packet.origin;
  TimedEntry& e = entry(at, m.line);
  if (capacity_.counts_entries() && is_request(m.kind))
    capacity_.take_entry(e, [&](TimedEntry& oldest) { recall(at, oldest); });
  if (m.carries && m.kind != Kind::Put) e.origin = origin;  // a Put may have to wait
  context_.observer.acted(packet.number, e, m, now);
  Resolver<ResolverAt>(at, e).receive(m);
  context_.network.packets.drop(packet);
  forget_if_blank(e);
  return Action::nothing;
}

// Returns the time by which a message acts later than it came: a lookup (R9.2), or a turn (R5.3).
// A message is delayed once.
Time ResolverAgent::delay(const Packet& packet) {
  if (packet.delayed) return 0;
  if (packet.message.kind == Kind::Unblock)
    return spec_.turn > 0 && has_successor(packet) ? spec_.turn : 0;
  return spec_.lookup > 0 && must_look_up(packet) ? spec_.lookup : 0;
}

// Does another request wait for the end of the transaction?
bool ResolverAgent::has_successor(const Packet& packet) {
  const TimedEntry* e = entries_.find(packet.message.line);
  return e && !e->queue.empty() && !context_.map.costs_nothing(e->line);
}

// Must the owner of the line be looked up in memory? Memory has its name if it is away from this
// node (R9.1); the root knows it while a transaction is under way, or others wait (R9.3).
bool ResolverAgent::must_look_up(const Packet& packet) {
  const Msg& m = packet.message;
  if (!is_request(m.kind) || m.kind == Kind::Put) return false;
  if (context_.map.costs_nothing(m.line)) return false;
  const TimedEntry* e = entries_.find(m.line);
  if (!e || e->holders.owner == kNobody || e->busy() || !e->queue.empty()) return false;
  return std::ranges::find(spec_.near, spec_.children[e->holders.owner]) == spec_.near.end();
}

// --- entries ----------------------------------------------------------------------------------

inline TimedEntry& ResolverAgent::entry(ResolverAt& at, uint64_t line) {
  if (TimedEntry* e = entries_.find(line)) [[likely]]
    return *e;
  return new_entry(at, line);
}

TimedEntry& ResolverAgent::new_entry(ResolverAt& at, uint64_t line) {
  TimedEntry& e = entries_.add(at, line);
  Resolver<ResolverAt>(at, e).init();
  return e;
}

void ResolverAgent::recall(ResolverAt& at, TimedEntry& e) {
  Resolver<ResolverAt>(at, e).recall();
  forget_if_blank(e);
}

void ResolverAgent::evict(ResolverAt& at, TimedEntry& e) {
  Resolver<ResolverAt>(at, e).evict();
  forget_if_blank(e);
}

// Forgetting changes nothing but memory, so a few blank entries may stay for the next request.
inline void ResolverAgent::forget_if_blank(TimedEntry& e) {
  constexpr std::size_t kMaxBlankEntries = 4096;
  if (capacity_.counts_entries() || entries_.size() >= kMaxBlankEntries) forget_blank(e);
}

void ResolverAgent::forget_blank(TimedEntry& e) {
  if (!e.blank(policy_.root)) return;
  capacity_.forget(e);
  entries_.forget(e);
}

const Bytes* ResolverAgent::stored_data(uint64_t line) {
  const TimedEntry* e = entries_.find(line);
  if (!e) return nullptr;
  if (e->in_hand.valid) return &e->in_hand.data;  // a transaction has them to give
  const bool valid = (e->copy.stored && e->copy.dirty) || e->phase == Phase::put;
  return valid ? &e->copy.data : nullptr;
}

}  // namespace uncore
