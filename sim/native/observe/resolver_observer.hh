// Observes transactions at a resolver (observe/observer.hh). The log records the times at which
// each transaction opens, sends its first probe and closes, and the source of its data (L4 to L6).
// The trace records the row of resolver.table that applies to the request, and the changes of the
// right that a join holds at the level above.
//
// `Env` and `Entry` are those of coherence/resolver.hh.
#pragma once

#include "coherence/entry.hh"
#include "observe/log.hh"
#include "observe/observer.hh"
#include "observe/trace.hh"

namespace uncore {

class ResolverObserver : Observer {
 public:
  explicit ResolverObserver(const Observer& observer) : Observer(observer) {}

  // Called when a message is handled: when its slice has served it, or at once if it needs no
  // service.
  template <class Env>
  void acted(uint32_t packet, const Entry<Env>& entry, const Header& m, Time now) const {
    if (log) [[unlikely]]
      note_acted(packet, entry, m, now);
  }
  template <class Env>
  void opened(const Env& env, const Entry<Env>& entry, Time now) const {
    if (log) [[unlikely]]
      note_opened(env, entry, now);
  }
  // Called when a message is sent for the entry's transaction, or to answer a probe from above.
  template <class Env>
  void sent(const Entry<Env>& entry, const Header& m, Time now) const {
    if (log) [[unlikely]]
      note_sent(entry, m, now);
  }
  // Called when this level sends its own data to the requester.
  template <class Env>
  void supplied(const Entry<Env>& entry, Agent self) const {
    if (log) [[unlikely]]
      log->supplied(name_of(entry), self);
  }
  template <class Env>
  void closed(const Entry<Env>& entry, Time now) const {
    if (log) [[unlikely]]
      log->closed(name_of(entry), entry.request.right, now);
  }
  // Called when the right that this level holds at the level above changes to `next`.
  template <class Env>
  void entered(const Entry<Env>& entry, Agent self, ClientEvent event, State next, Time now) const {
    if (trace) [[unlikely]]
      trace->entered(self, entry.line, entry.above.state, event, next, now);
  }

 private:
  template <class Env>
  static RequestName name_of(const Entry<Env>& entry) {
    return {entry.request.from, entry.request.id};
  }
  template <class Env>
  void note_acted(uint32_t packet, const Entry<Env>& entry, const Header& m, Time now) const;
  template <class Env>
  void note_opened(const Env& env, const Entry<Env>& entry, Time now) const;
  template <class Env>
  void note_sent(const Entry<Env>& entry, const Header& m, Time now) const;
};

// Records the sender of data, or of an answer with data, as the source of the transaction (L4).
template <class Env>
[[gnu::noinline]] void ResolverObserver::note_acted(uint32_t packet, const Entry<Env>& entry,
                                                    const Header& m, Time now) const {
  if (trace) trace->acted(packet, now);
  const bool has_data = m.kind == Kind::Answer && (m.flags & Flag::gave) && !entry.answers_above();
  if (has_data || m.kind == Kind::Data) log->supplied(name_of(entry), m.from);
}

// Records the row of resolver.table that applies to the request, before any child is probed.
template <class Env>
[[gnu::noinline]] void ResolverObserver::note_opened(const Env& env, const Entry<Env>& entry,
                                                     Time now) const {
  const auto& holders = entry.holders;
  const Agent owner = holders.owner == kNobody ? kNobody : env.child(holders.owner);
  log->opened(name_of(entry), owner, now);
  if (!trace) return;
  const bool as_any =
      entry.request.kind == Kind::Amo;  // an Amo's requester is treated like any other child
  const int requester = as_any ? kNobody : env.ordinal(entry.request.from);
  uint32_t others = 0;
  holders.sharers.each([&](int c) { others += c != requester; });
  trace->found_entry({.at = now,
                      .resolver = env.self(),
                      .line = entry.line,
                      .requester = entry.request.from,
                      .number = entry.request.id,
                      .children = env.policy().snoop ? Children::U : holders.row(requester),
                      .owner = owner,
                      .sharers = others});
}

// Records a Grant, and probes. Probes on behalf of a probe from above are not counted for the
// transaction (L6).
template <class Env>
[[gnu::noinline]] void ResolverObserver::note_sent(const Entry<Env>& entry, const Header& m,
                                                   Time now) const {
  if (m.kind == Kind::Grant) log->supplied({m.to, m.id}, kNobody);
  if (is_probe(m.kind) && !entry.answers_above()) log->probed(name_of(entry), now);
}

}  // namespace uncore
