#include "resolver/resolver_at.hh"

#include <algorithm>

#include "resolver/resolver_agent.hh"

namespace uncore {
namespace {

TimedEntry& timed(ResolverAt::E& e) { return static_cast<TimedEntry&>(e); }

RequestName name_of(const Message<Bytes>& request) { return {request.from, request.id}; }

}  // namespace

// Another child, or an agent above, waits for the line and will take it from its new owner (C9.2).
bool ResolverAt::contended(const E& e) const {
  return e.contended || e.probed ||
         e.queue.any([&](const Msg& m) { return m.kind != Kind::Put && m.from != e.request.from; });
}

// --- messages ---------------------------------------------------------------------------------

// The agent that had the data sent for a line: the sender of those in hand, else this level.
Agent ResolverAt::origin_of(uint64_t line) const {
  const TimedEntry& e = *agent_.entries_.find(line);
  return e.in_hand.valid ? e.origin : agent_.self_;
}

void ResolverAt::send(const Msg& m) {
  if (agent_.around_.log) [[unlikely]]
    log_sent(m);
  agent_.around_.network.send(m, now_, m.carries ? origin_of(m.line) : kNobody);
}

void ResolverAt::send_stored(E& e, const Msg& m) {
  if (Log* log = agent_.around_.log) [[unlikely]]
    log->supplied(name_of(e.request), agent_.self_);
  agent_.capacity_.use(timed(e));
  const bool waited = m.kind == Kind::Value;  // its slice has
  agent_.around_.network.send(m, waited ? now_ : read_data(e), agent_.self_);
}

// When a copy of the line leaves: copies of one line leave one after another (R6.2).
Time ResolverAt::read_data(E& entry) {
  if (agent_.around_.map.free(entry.line)) return now_;
  TimedEntry& e = timed(entry);
  const Time begin = std::max(now_, e.repeats);
  e.repeats = begin + agent_.spec_.data_repeat;
  return begin + agent_.spec_.data_hit;
}

ResolverAt::Msg ResolverAt::apply(Bytes& data, const Msg& request) const {
  Msg value;
  value.kind = Kind::Value;
  value.from = value.resolver = agent_.self_;
  value.to = request.from;
  value.line = request.line;
  value.id = request.id;
  if (Versions* versions = agent_.around_.versions)
    versions->change((request.line << kLineShift) + request.operation.offset,
                     request.operation.size, data, now_);
  value.old = request.operation.apply(data);
  return value;
}

void ResolverAt::memory_read(E& e) {
  Msg m;
  m.kind = Kind::GetS;
  m.from = m.requester = agent_.self_;
  m.to = agent_.around_.map.memory_of(e.line, agent_.spec_.memory);
  m.line = e.line;
  send(m);
}

// The resolver is the point of order: memory changes now, the transfer only takes its time.
void ResolverAt::memory_write(E& e, const Bytes& data) {
  agent_.around_.memories.line(e.line) = data;
  Msg m;
  m.kind = Kind::Put;
  m.from = m.requester = agent_.self_;
  m.to = agent_.around_.map.memory_of(e.line, agent_.spec_.memory);
  m.line = e.line;
  m.carries = true;
  send(m);
}

// --- this level's data (R7) -------------------------------------------------------------------

void ResolverAt::keep(E& entry) {
  agent_.capacity_.keep(timed(entry), [this](TimedEntry& oldest) { agent_.evict(*this, oldest); });
}

void ResolverAt::discard(E& entry) { agent_.capacity_.drop(timed(entry)); }

// --- the log ----------------------------------------------------------------------------------

void ResolverAt::opened(E& e) {
  Log* const log = agent_.around_.log;
  if (!log) [[likely]]
    return;
  const int ordinal = e.holders.owner;
  const Agent owner = ordinal == kNobody ? kNobody : child(ordinal);
  log->opened(name_of(e.request), owner, now_);
  if (agent_.around_.trace) trace_turn(e, owner);
}

// Before anybody is asked: the row of resolver.table that the request finds.
void ResolverAt::trace_turn(const E& e, Agent owner) const {
  uint32_t others = 0;
  const bool as_any = e.request.kind == Kind::Amo;  // its requester is a child like any other
  const int who = as_any ? kNobody : ordinal(e.request.from);
  e.holders.sharers.each([&](int c) { others += c != who; });
  agent_.around_.trace->turn({.at = now_,
                              .resolver = agent_.self_,
                              .line = e.line,
                              .requester = e.request.from,
                              .number = e.request.id,
                              .children = policy().snoop ? Children::U : e.holders.row(who),
                              .owner = owner,
                              .sharers = others});
}

void ResolverAt::closed(E& e) {
  ++agent_.around_.counters.transactions;
  if (Log* log = agent_.around_.log) [[unlikely]]
    log->closed(name_of(e.request), e.request.right, now_);
}

// While a probe from above is answered, the children are asked on its account (L6).
void ResolverAt::log_sent(const Msg& m) {
  Log& log = *agent_.around_.log;
  if (m.kind == Kind::Grant) log.supplied({m.to, m.id}, kNobody);
  if (!is_probe(m.kind)) return;
  const E& e = *agent_.entries_.find(m.line);
  if (!e.answers_above()) log.probed(name_of(e.request), now_);
}

}  // namespace uncore
