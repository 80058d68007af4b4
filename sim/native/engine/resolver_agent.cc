#include "engine/resolver_agent.hh"

#include <algorithm>

#include "core/access.hh"
#include "engine/engine.hh"

namespace uncore {
namespace {

RequestName name_of(const Message<Bytes>& request) { return {request.from, request.id}; }

}  // namespace

ResolverAgent::ResolverAgent(Engine& engine, Agent agent, const ResolverSpec& spec)
    : busy(spec.slices.size(), 0),
      engine_(engine),
      agent_(agent),
      spec_(spec),
      free_(spec.slices.size(), 0) {
  policy_.root = spec.parents.empty();
  policy_.snoop = spec.knows == "snoop";
  policy_.direct = spec.reply == "direct";
  policy_.completion = spec.unblock == "completion";
  policy_.keeps_data = spec.data != "none";
  policy_.inclusive = spec.data == "inclusive" || spec.knows == "inclusive";
  policy_.grants = spec.grants;
}

const Protocol& ResolverAgent::protocol() const { return engine_.protocol(); }
int ResolverAgent::ordinal(Agent a) const { return a == kNobody ? kNobody : engine_.ordinal(a); }
Agent ResolverAgent::above(uint64_t line) const {
  return engine_.resolver_above(agent_, line, kNobody);
}

std::size_t ResolverAgent::slice(uint64_t line) const {
  return engine_.slice_of(line, spec_.slices.size());
}

ResolverAgent::Slot& ResolverAgent::entry(uint64_t line) {
  std::unique_ptr<Slot>& s = entries_[line];
  if (!s) {
    s = std::make_unique<Slot>(*this, line);
    Resolver<ResolverAgent>::init(*this, *s);
  }
  return *s;
}

uint64_t ResolverAgent::tag_set(uint64_t line) const {
  return line % std::max(1u, spec_.entries / std::max(1u, spec_.ways));
}

void ResolverAgent::take_tag(Slot& s) {
  s.used = ++clock_;
  if (s.in_tags) return;
  std::vector<Slot*>& set = tags_[tag_set(s.line)];
  set.push_back(&s);
  s.in_tags = true;
  evict_if_full(set, spec_.ways, s, true);
}

void ResolverAgent::forget_if_blank(Slot& s) {
  // Forgetting changes nothing but memory, so a few blank entries may stay for the next request.
  constexpr std::size_t kFew = 4096;
  if (spec_.entries == 0 && entries_.size() < kFew) return;
  if (!s.blank(policy_.root)) return;
  if (s.in_tags) std::erase(tags_[tag_set(s.line)], &s);
  entries_.erase(s.line);
}

// Makes room in a set: its least recently used quiet entries go, and leave it at once.
void ResolverAgent::evict_if_full(std::vector<Slot*>& set, uint32_t ways, Slot& keep, bool recall) {
  while (set.size() > ways) {
    Slot* oldest = nullptr;
    for (Slot* s : set)
      if (s != &keep && s->quiet() && (!oldest || s->used < oldest->used)) oldest = s;
    if (!oldest) return;
    std::erase(set, oldest);
    if (recall) {
      oldest->in_tags = false;
      Resolver<ResolverAgent>::recall(*this, *oldest);
    } else {
      oldest->in_store = false;
      Resolver<ResolverAgent>::evict(*this, *oldest);
    }
    forget_if_blank(*oldest);
  }
}

// Who had the data that are sent for a line: whoever sent those in hand, else this level.
Agent ResolverAgent::origin_of(uint64_t line) const {
  const Slot& s = *entries_.at(line);
  return s.carried ? s.origin : agent_;
}

void ResolverAgent::send(const Msg& m) {
  if (engine_.log) [[unlikely]]
    log_sent(m);
  if (m.carries) engine_.origin = origin_of(m.line);
  engine_.send(m, stop(m.line), now_, agent_, sent);
}

void ResolverAgent::send_stored(Record& e, const Msg& m) {
  if (engine_.log) [[unlikely]]
    engine_.log->supplied(name_of(e.request), agent_);
  engine_.origin = agent_;
  slot(e).used = ++clock_;
  const bool waited = m.kind == Kind::Value;  // its slice has
  engine_.send(m, stop(m.line), now_ + (waited ? 0 : spec_.data_hit), agent_, sent);
}

ResolverAgent::Msg ResolverAgent::apply(Bytes& data, const Msg& request) const {
  Outcome out;
  operate(taken<Access>(request.data), data, out);
  Msg value;
  value.kind = Kind::Value;
  value.from = value.resolver = agent_;
  value.to = request.from;
  value.line = request.line;
  value.id = request.id;
  put(value.data, out);
  return value;
}

void ResolverAgent::memory_read(Record& e) {
  Msg m;
  m.kind = Kind::GetS;
  m.from = m.requester = agent_;
  m.to = engine_.memory_agent(e.line, spec_.memory);
  m.line = e.line;
  send(m);
}

// The resolver is the point of order: the image changes now, the transfer only takes its time.
void ResolverAgent::memory_write(Record& e, const Bytes& data) {
  engine_.image.line(e.line) = data;
  Msg m;
  m.kind = Kind::Put;
  m.from = m.requester = agent_;
  m.to = engine_.memory_agent(e.line, spec_.memory);
  m.line = e.line;
  m.carries = true;
  send(m);
}

void ResolverAgent::keep(Record& e) {
  Slot& s = slot(e);
  s.used = ++clock_;
  if (s.in_store) return;
  std::vector<Slot*>& set = store_[e.line % std::max(1u, spec_.data_sets)];
  set.push_back(&s);
  s.in_store = true;
  evict_if_full(set, spec_.data_ways, s, false);
}

void ResolverAgent::discard(Record& e) {
  Slot& s = slot(e);
  if (!s.in_store) return;
  std::erase(store_[e.line % std::max(1u, spec_.data_sets)], &s);
  s.in_store = false;
}

// Another child or somebody above: whoever it is will take the line from its new owner (C9).
bool ResolverAgent::contended(const Record& e) const {
  return e.contended || e.probed ||
         e.queue.any([&](const Msg& m) { return m.kind != Kind::Put && m.from != e.request.from; });
}

void ResolverAgent::opened(Record& e) {
  if (!engine_.log) return;
  engine_.log->opened(name_of(e.request), e.owner == kNobody ? kNobody : child(e.owner), now_);
}

void ResolverAgent::closed(Record& e) {
  ++engine_.counters.transactions;
  if (engine_.log) [[unlikely]]
    engine_.log->closed(name_of(e.request), e.request.right, now_);
}

// What the log wants to know of a message on its way out. While a probe from above is answered, the
// children are asked on its account (L6).
void ResolverAgent::log_sent(const Msg& m) {
  if (m.kind == Kind::Grant) engine_.log->supplied({m.to, m.id}, kNobody);
  if (!is_probe(m.kind)) return;
  const Record& e = *entries_.find(m.line)->second;
  if (!e.probing) engine_.log->probed(name_of(e.request), now_);
}

// And of one that has come: whose data it brings for the transaction under way (L4).
void ResolverAgent::log_received(const Record& e, const Msg& m) {
  const bool given = m.kind == Kind::Answer && (m.flags & Flag::gave) && !e.probing;
  if (given || m.kind == Kind::Data) engine_.log->supplied(name_of(e.request), m.from);
}

void ResolverAgent::arrive(PacketId id, Time now) {
  const Msg& m = engine_.packets[id].message;
  // An atomic reads and writes the data of its level (C8).
  const Time service = spec_.service + (m.kind == Kind::Amo ? spec_.data_hit : 0);
  if (service == 0 || !(is_request(m.kind) || is_probe(m.kind))) return act(id, now);
  const std::size_t s = slice(m.line);
  const Time start = std::max(now, free_[s]);
  free_[s] = start + service;
  busy[s] += service;
  engine_.schedule_act(id, free_[s]);
}

// Who owns a line away from this node stands with the line in memory (R9); of a line with a
// transaction under way, or with others waiting, it is known already.
bool ResolverAgent::must_look_up(const Packet& packet) const {
  const Msg& m = packet.message;
  if (packet.looked_up || !is_request(m.kind) || m.kind == Kind::Put) return false;
  const auto found = entries_.find(m.line);
  if (found == entries_.end()) return false;
  const Record& e = *found->second;
  if (e.owner == kNobody || e.busy() || !e.queue.empty()) return false;
  return std::find(spec_.near.begin(), spec_.near.end(), child(e.owner)) == spec_.near.end();
}

void ResolverAgent::act(PacketId id, Time now) {
  now_ = now;
  Packet& packet = engine_.packets[id];
  if (spec_.lookup > 0 && must_look_up(packet)) {
    packet.looked_up = true;
    return engine_.schedule_act(id, now + spec_.lookup);
  }
  const Msg& m = packet.message;
  const Agent origin = packet.origin;
  Slot& s = entry(m.line);
  if (spec_.entries > 0 && is_request(m.kind)) take_tag(s);
  if (m.carries) s.origin = origin;
  if (engine_.log) [[unlikely]]
    log_received(s, m);
  if (m.kind == Kind::Data && engine_.is_memory(m.from)) {
    Resolver<ResolverAgent>::memory_data(*this, s, m.data);
  } else {
    Resolver<ResolverAgent>::receive(*this, s, m);
  }
  engine_.packets.drop(id);
  forget_if_blank(s);
}

const Bytes* ResolverAgent::stored_data(uint64_t line) const {
  const auto found = entries_.find(line);
  if (found == entries_.end()) return nullptr;
  const Record& e = *found->second;
  if (e.carried) return &e.in_hand;  // of the transaction under way
  const bool valid = (e.stored && e.dirty) || e.step == Record::Step::put;
  return valid ? &e.data : nullptr;
}

}  // namespace uncore
