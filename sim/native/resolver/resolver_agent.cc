#include "resolver/resolver_agent.hh"

#include <algorithm>
#include <memory>
#include <utility>

namespace uncore {

ResolverAgent::ResolverAgent(const ResolverSurroundings& around, Agent self,
                             const ResolverSpec& spec)
    : busy(spec.slices.size(), 0),
      around_(around),
      self_(self),
      spec_(spec),
      free_(spec.slices.size(), 0) {
  policy_.root = spec.parents.empty();
  policy_.snoop = spec.knows == ResolverSpec::Knows::snoop;
  policy_.direct = spec.reply == ResolverSpec::Reply::direct;
  policy_.completion = spec.unblock == ResolverSpec::Unblock::completion;
  policy_.keeps_data = spec.data != ResolverSpec::Data::none;
  policy_.inclusive =
      spec.data == ResolverSpec::Data::inclusive || spec.knows == ResolverSpec::Knows::inclusive;
  policy_.forwarder = spec.forwarder;
  policy_.grants = spec.grants;
}

void ResolverAgent::arrive(PacketId id, Time now) {
  const Msg& m = around_.network.packets[id].message;
  // An atomic reads and writes the data of its level (C8).
  const Time service = spec_.service + (m.kind == Kind::Amo ? spec_.data_hit : 0);
  if (service == 0 || around_.map.free(m.line) || !(is_request(m.kind) || is_probe(m.kind)))
    return act(id, now);
  const std::size_t s = slice(m.line);
  const Time start = std::max(now, free_[s]);
  free_[s] = start + service;
  busy[s] += service;
  act_after(id, free_[s]);
}

void ResolverAgent::act_after(PacketId id, Time when) {
  const Packet& p = around_.network.packets[id];
  around_.queue.push(when, p.place, p.sender, Action::act, id);
}

void ResolverAgent::act(PacketId id, Time now) {
  Packet& packet = around_.network.packets[id];
  if (const Time more = delay(packet); more > 0) {
    packet.delayed = true;
    return act_after(id, now + more);
  }
  ResolverAt at(*this, now);
  const Msg& m = packet.message;
  const Agent origin = packet.origin;
  PlacedEntry& e = entry(at, m.line);
  if (spec_.entries > 0 && is_request(m.kind)) take_tag(at, e);
  if (m.carries) e.origin = origin;
  if (around_.log) [[unlikely]]
    log_received(e, id, now);
  Resolver<ResolverAt>::receive(at, e, m);
  around_.network.packets.drop(id);
  forget_if_blank(e);
}

// How much later than it came a message acts, once: a lookup (R9), or a turn (R5.3).
Time ResolverAgent::delay(const Packet& packet) {
  if (packet.delayed) return 0;
  if (packet.message.kind == Kind::Unblock)
    return spec_.turn > 0 && awaited(packet) ? spec_.turn : 0;
  return spec_.lookup > 0 && must_look_up(packet) ? spec_.lookup : 0;
}

// Does another request wait for what a message ends?
bool ResolverAgent::awaited(const Packet& packet) {
  const PlacedEntry* e = known(packet.message.line);
  return e && !e->queue.empty() && !around_.map.free(e->line);
}

// Who owns a line away from this node stands with the line in memory (R9); of a line with a
// transaction under way, or with others waiting, it is known already.
bool ResolverAgent::must_look_up(const Packet& packet) {
  const Msg& m = packet.message;
  if (!is_request(m.kind) || m.kind == Kind::Put) return false;
  if (around_.map.free(m.line)) return false;
  const PlacedEntry* e = known(m.line);
  if (!e || e->owner == kNobody || e->busy() || !e->queue.empty()) return false;
  return std::ranges::find(spec_.near, spec_.children[e->owner]) == spec_.near.end();
}

// Whose data a message brings for the transaction under way (L4).
void ResolverAgent::log_received(const PlacedEntry& e, PacketId id, Time now) {
  const Msg& m = around_.network.packets[id].message;
  if (around_.trace) around_.trace->acts(id, now);
  const bool given = m.kind == Kind::Answer && (m.flags & Flag::gave) && !e.answers_above();
  if (given || m.kind == Kind::Data) around_.log->supplied({e.request.from, e.request.id}, m.from);
}

// --- entries ----------------------------------------------------------------------------------

ResolverAgent::PlacedEntry* ResolverAgent::known(uint64_t line) {
  if (last_ && last_->line == line) return last_;
  const auto found = entries_.find(line);
  return found == entries_.end() ? nullptr : last_ = found->second.get();
}

std::unique_ptr<ResolverAgent::PlacedEntry> ResolverAgent::made(ResolverAt& at, uint64_t line) {
  if (spare_.empty()) return std::make_unique<PlacedEntry>(at, line);
  std::unique_ptr<PlacedEntry> e = std::move(spare_.back());
  spare_.pop_back();
  std::destroy_at(e.get());
  std::construct_at(e.get(), at, line);
  return e;
}

ResolverAgent::PlacedEntry& ResolverAgent::entry(ResolverAt& at, uint64_t line) {
  if (PlacedEntry* e = known(line)) return *e;
  last_ = (entries_[line] = made(at, line)).get();
  Resolver<ResolverAt>::init(at, *last_);
  return *last_;
}

void ResolverAgent::forget_if_blank(PlacedEntry& e) {
  // Forgetting changes nothing but memory, so a few blank entries may stay for the next request.
  constexpr std::size_t kFew = 4096;
  if (spec_.entries == 0 && entries_.size() < kFew) return;
  if (!e.blank(policy_.root)) return;
  if (e.in_tags) tags(e.line).remove(e);
  if (last_ == &e) last_ = nullptr;
  const auto found = entries_.find(e.line);
  spare_.push_back(std::move(found.value()));
  entries_.erase(found);
}

const Bytes* ResolverAgent::stored_data(uint64_t line) const {
  const auto found = entries_.find(line);
  if (found == entries_.end()) return nullptr;
  const PlacedEntry& e = *found->second;
  if (e.carried) return &e.in_hand;  // of the transaction under way
  const bool valid = (e.stored && e.dirty) || e.phase == Phase::put;
  return valid ? &e.data : nullptr;
}

// --- capacities (R7 and R8) -------------------------------------------------------------------

ResolverAgent::Set& ResolverAgent::tags(uint64_t line) {
  return tags_[line % std::max(1u, spec_.entries / std::max(1u, spec_.ways))];
}

void ResolverAgent::take_tag(ResolverAt& at, PlacedEntry& e) {
  use(e);
  if (e.in_tags) return;
  Set& set = tags(e.line);
  set.add(e);
  e.in_tags = true;
  evict_if_full(at, set, spec_.ways, e, true);
}

// Makes room in a set: its least recently used quiet entries go, and leave it at once.
void ResolverAgent::evict_if_full(ResolverAt& at, Set& set, uint32_t ways, PlacedEntry& keep,
                                  bool recall) {
  while (set.size() > ways) {
    PlacedEntry* const oldest =
        set.oldest([&](const PlacedEntry& e) { return &e != &keep && e.quiet(); });
    if (!oldest) return;
    set.remove(*oldest);
    if (recall) {
      oldest->in_tags = false;
      Resolver<ResolverAt>::recall(at, *oldest);
    } else {
      oldest->in_store = false;
      Resolver<ResolverAt>::evict(at, *oldest);
    }
    forget_if_blank(*oldest);
  }
}

}  // namespace uncore
