#include "resolver/resolver_agent.hh"

#include <algorithm>
#include <bit>

namespace uncore {
namespace {

// Returns the number of children in a region. When the pointers overflow, the bits of all pointers
// are used as a coarse bit vector, in which each bit stands for one region (R11.2).
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
          .max_grants_before_probe = static_cast<int>(spec.grants),
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
  // A far atomic also occupies the slice while it reads and writes this level's data (C8.2).
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
    if (const Time extra_delay = delay(packet); extra_delay > 0) {
      packet.delayed = true;
      return act_after(packet, now + extra_delay);
    }
  }
  ResolverAt resolver(*this, now);
  const Msg& m = packet.message;
  const Agent origin = packet.origin;
  TimedEntry& e = entry(resolver, m.line);
  if (capacity_.counts_entries() && is_request(m.kind))
    capacity_.take_entry(e, [&](TimedEntry& oldest) { recall(resolver, oldest); });
  if (m.carries && m.kind != Kind::Put)
    e.origin = origin;  // not for a Put, which may have to wait before its data are taken
  context_.observer.acted(packet.number, e, m, now);
  Resolver<ResolverAt>(resolver, e).receive(m);
  context_.network.packets.drop(packet);
  forget_if_blank(e);
  return Action::nothing;
}

// Returns the time by which a message is delayed after its service. A message is delayed at most
// once: a request by the lookup of the owner in memory (R9.2), an Unblock by the gap between two
// transactions of a line (`turn`, R5.3).
Time ResolverAgent::delay(const Packet& packet) {
  if (packet.delayed) return 0;
  if (packet.message.kind == Kind::Unblock)
    return spec_.turn > 0 && has_successor(packet) ? spec_.turn : 0;
  return spec_.lookup > 0 && must_look_up(packet) ? spec_.lookup : 0;
}

// Returns whether another request waits for the end of the transaction that this Unblock closes.
bool ResolverAgent::has_successor(const Packet& packet) {
  const TimedEntry* e = entries_.find(packet.message.line);
  return e && !e->queue.empty() && !context_.map.costs_nothing(e->line);
}

// Returns whether the root must read the line's owner from memory. It must if the owner is not a
// child of the root's own node (R9.1), unless a transaction of the line is under way or requests
// wait for the line, because then the root has read the owner already (R9.3).
bool ResolverAgent::must_look_up(const Packet& packet) {
  const Msg& m = packet.message;
  if (!is_request(m.kind) || m.kind == Kind::Put) return false;
  if (context_.map.costs_nothing(m.line)) return false;
  const TimedEntry* e = entries_.find(m.line);
  if (!e || e->holders.owner == kNobody || e->busy() || !e->queue.empty()) return false;
  return std::ranges::find(spec_.near, spec_.children[e->holders.owner]) == spec_.near.end();
}

// --- entries ----------------------------------------------------------------------------------

inline TimedEntry& ResolverAgent::entry(ResolverAt& resolver, uint64_t line) {
  if (TimedEntry* e = entries_.find(line)) [[likely]]
    return *e;
  return new_entry(resolver, line);
}

TimedEntry& ResolverAgent::new_entry(ResolverAt& resolver, uint64_t line) {
  TimedEntry& e = entries_.add(resolver, line);
  Resolver<ResolverAt>(resolver, e).init();
  return e;
}

void ResolverAgent::recall(ResolverAt& resolver, TimedEntry& e) {
  Resolver<ResolverAt>(resolver, e).recall();
  forget_if_blank(e);
}

void ResolverAgent::evict(ResolverAt& resolver, TimedEntry& e) {
  Resolver<ResolverAt>(resolver, e).evict();
  forget_if_blank(e);
}

// Deletes the entry if it is blank: at once if the number of entries is limited, else only when
// there are many entries. Keeping a blank entry changes no outcome, and saves the next request from
// making a new one.
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
  if (e->in_hand.valid) return &e->in_hand.data;  // the transaction under way will grant them
  const bool valid = (e->copy.stored && e->copy.dirty) || e->phase == Phase::put;
  return valid ? &e->copy.data : nullptr;
}

}  // namespace uncore
