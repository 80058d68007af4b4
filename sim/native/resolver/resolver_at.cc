#include "resolver/resolver_at.hh"

#include <algorithm>

#include "resolver/resolver_agent.hh"

namespace uncore {
namespace {

TimedEntry& timed(ResolverAt::E& e) { return static_cast<TimedEntry&>(e); }
const TimedEntry& timed(const ResolverAt::E& e) { return static_cast<const TimedEntry&>(e); }

}  // namespace

// Returns whether another child or an agent above waits for the line. If so, the child that is
// granted the line will soon lose it (C9.2).
bool ResolverAt::contended(const E& e) const {
  return e.contended || e.probed ||
         e.queue.any([&](const Msg& m) { return m.kind != Kind::Put && m.from != e.request.from; });
}

// --- messages ---------------------------------------------------------------------------------

// Sends a message. The origin of its data is the agent that sent the data in hand; if no data are
// in hand, it is this level.
void ResolverAt::send(const E& e, const Msg& m) {
  agent_.context_.observer.sent(e, m, now_);
  const Agent origin = e.in_hand.valid ? timed(e).origin : agent_.self_;
  agent_.context_.network.send(m, now_, m.carries ? origin : kNobody);
}

void ResolverAt::send_stored(E& e, const Msg& m) {
  agent_.context_.observer.supplied(e, agent_.self_);
  agent_.capacity_.use(timed(e));
  const bool waited = m.kind == Kind::Value;  // arrive() has added data_hit already (C8.2)
  agent_.context_.network.send(m, waited ? now_ : read_data(e), agent_.self_);
}

// Reads the line from the data store. Returns the time at which the data leave. Two reads of one
// line are at least `data_repeat` apart (R6.2).
Time ResolverAt::read_data(E& entry) {
  if (agent_.context_.map.costs_nothing(entry.line)) return now_;
  TimedEntry& e = timed(entry);
  const Time begin = std::max(now_, e.readable_at);
  e.readable_at = begin + agent_.spec_.data_repeat;
  return begin + agent_.spec_.data_hit;
}

ResolverAt::Msg ResolverAt::apply(const Bytes& data, const Msg& request) const {
  if (!data.at) throw ProtocolError{"a level was asked for an atomic operation on no data"};
  Msg value;
  value.kind = Kind::Value;
  value.from = value.resolver = agent_.self_;
  value.to = request.from;
  value.line = request.line;
  value.id = request.id;
  if (Versions* versions = agent_.context_.versions)
    versions->change((request.line << kUnitShift) + request.operation.offset,
                     request.operation.size, data, now_);
  value.old = request.operation.apply(data);
  return value;
}

void ResolverAt::memory_read(E& e) {
  Msg m;
  m.kind = Kind::GetS;
  m.from = m.requester = agent_.self_;
  m.to = agent_.context_.map.memory_of(e.line, agent_.spec_.memory);
  m.line = e.line;
  send(e, m);
}

// Writes data to memory at once, because the resolver is the ordering point. The Put message only
// accounts for the time of the transfer.
void ResolverAt::memory_write(E& e, const Bytes& data) {
  agent_.context_.memories.line(e.line).fill(data);
  Msg m;
  m.kind = Kind::Put;
  m.from = m.requester = agent_.self_;
  m.to = agent_.context_.map.memory_of(e.line, agent_.spec_.memory);
  m.line = e.line;
  m.carry(data);
  send(e, m);
}

// --- this level's data (R7) -------------------------------------------------------------------

void ResolverAt::keep(E& entry) {
  agent_.capacity_.keep(timed(entry), [this](TimedEntry& oldest) { agent_.evict(*this, oldest); });
}

void ResolverAt::discard(E& entry) { agent_.capacity_.drop(timed(entry)); }

void ResolverAt::opened(E& e) { agent_.context_.observer.opened(*this, e, now_); }

void ResolverAt::closed(E& e) {
  ++agent_.context_.counters.transactions;
  agent_.context_.observer.closed(e, now_);
}

}  // namespace uncore
