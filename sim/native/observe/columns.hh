// Defines the columns of a run's records: for each type of row, the name and the value of every
// column. Python's arrays and a web page's JSON are made from these definitions.
//
// Interface: each_column(rows, put) calls put(name, field) for each column of a vector of rows.
// field(row) is the value: a Wide is unsigned and needs all 64 bits, any other number fits into 63.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/attribution.hh"
#include "observe/log.hh"
#include "observe/summary.hh"
#include "observe/trace.hh"

namespace uncore {

struct Wide {
  uint64_t bits;
  explicit operator uint64_t() const { return bits; }
};

template <class Put, class Of>
void each_cost(Put put, Of cost) {
  put("misses", [cost](const auto& row) { return cost(row).misses; });
  put("needless", [cost](const auto& row) { return cost(row).needless; });
  put("failed_scs", [cost](const auto& row) { return cost(row).failed_scs; });
  put("waited_ps", [cost](const auto& row) { return cost(row).waited; });
  put("critical_ps", [cost](const auto& row) { return cost(row).critical; });
  put("needless_ps", [cost](const auto& row) { return cost(row).needless_wait; });
}

template <class Put>
void each_column(const std::vector<UseRow>&, Put put) {
  put("line", [](const UseRow& r) { return r.use->held->line->number << kUnitShift; });
  put("pc", [](const UseRow& r) { return r.use->pc; });
  put("hart", [](const UseRow& r) { return r.use->hart; });
  put("kind", [](const UseRow& r) { return r.kind; });
  put("callers", [](const UseRow& r) { return r.use->callers; });
  put("reads", [](const UseRow& r) { return r.use->reads; });
  put("writes", [](const UseRow& r) { return r.use->writes; });
  each_cost(put, [](const UseRow& r) -> const UseCost& { return *r.cost; });
  put("read", [](const UseRow& r) { return Wide{r.use->read}; });
  put("written", [](const UseRow& r) { return Wide{r.use->written}; });
}

template <class Put>
void each_column(const std::vector<Sum>&, Put put) {
  put("line", [](const Sum& s) { return s.line << kUnitShift; });
  put("firsts", [](const Sum& s) { return Wide{s.firsts}; });
  put("reads", [](const Sum& s) { return s.reads; });
  put("writes", [](const Sum& s) { return s.writes; });
  each_cost(put, [](const Sum& s) -> const UseCost& { return s.cost; });
}

template <class Put>
void each_column(const std::vector<WaitRow>&, Put put) {
  put("sum", [](const WaitRow& w) { return w.sum; });
  put("pc", [](const WaitRow& w) { return w.pc; });
  put("callers", [](const WaitRow& w) { return w.callers; });
  put("waited_ps", [](const WaitRow& w) { return w.waited; });
  put("critical_ps", [](const WaitRow& w) { return w.critical; });
}

// Makes one column for each depth, the innermost caller first.
template <class Put>
void each_column(const std::vector<Callers>&, Put put) {
  static constexpr const char* names[] = {"0", "1", "2", "3", "4",  "5",
                                          "6", "7", "8", "9", "10", "11"};
  static_assert(std::size(names) == Callers::kDepth);
  for (std::size_t depth = 0; depth < Callers::kDepth; ++depth)
    put(names[depth], [depth](const Callers& c) { return c.addresses[depth]; });
}

template <class Put>
void each_column(const std::vector<Attribution::Allocation>&, Put put) {
  put("address", [](const Attribution::Allocation& a) { return a.address; });
  put("size", [](const Attribution::Allocation& a) { return a.size; });
  put("callers", [](const Attribution::Allocation& a) { return a.callers; });
}

template <class Put>
void each_column(const std::vector<LineCopies::PassedLine>&, Put put) {
  put("line", [](const LineCopies::PassedLine& p) { return p.line << kUnitShift; });
  put("source", [](const LineCopies::PassedLine& p) { return p.from; });
  put("target", [](const LineCopies::PassedLine& p) { return p.to; });
  put("times", [](const LineCopies::PassedLine& p) { return p.times; });
}

template <class Put>
void each_column(const std::vector<Trace::SentMessage>&, Put put) {
  put("kind", [](const Trace::SentMessage& m) { return m.kind; });
  put("sender", [](const Trace::SentMessage& m) { return m.header.from; });
  put("receiver", [](const Trace::SentMessage& m) { return m.header.to; });
  put("line", [](const Trace::SentMessage& m) { return m.header.line << kUnitShift; });
  put("number", [](const Trace::SentMessage& m) { return m.header.id; });
  put("requester", [](const Trace::SentMessage& m) { return m.header.requester; });
  put("right", [](const Trace::SentMessage& m) { return m.header.right; });
  put("flags", [](const Trace::SentMessage& m) { return m.header.flags; });
  put("carries", [](const Trace::SentMessage& m) { return m.header.carries; });
  put("contended", [](const Trace::SentMessage& m) { return m.header.contended; });
  put("hart", [](const Trace::SentMessage& m) { return static_cast<int32_t>(m.hart); });
  put("sent", [](const Trace::SentMessage& m) { return m.sent; });
  put("arrived", [](const Trace::SentMessage& m) { return m.arrived; });
  put("acts", [](const Trace::SentMessage& m) { return m.acts; });
}

template <class Put>
void each_column(const std::vector<Trace::Crossing>&, Put put) {
  put("message", [](const Trace::Crossing& c) { return c.message; });
  put("link", [](const Trace::Crossing& c) { return c.link; });
  put("head", [](const Trace::Crossing& c) { return c.head; });
  put("start", [](const Trace::Crossing& c) { return c.start; });
}

template <class Put>
void each_column(const std::vector<Trace::Change>&, Put put) {
  put("at", [](const Trace::Change& c) { return c.at; });
  put("agent", [](const Trace::Change& c) { return c.agent; });
  put("line", [](const Trace::Change& c) { return c.line << kUnitShift; });
  put("before", [](const Trace::Change& c) { return c.before; });
  put("event", [](const Trace::Change& c) { return c.event; });
  put("after", [](const Trace::Change& c) { return c.after; });
}

template <class Put>
void each_column(const std::vector<Trace::HeldState>&, Put put) {
  put("agent", [](const Trace::HeldState& h) { return h.agent; });
  put("line", [](const Trace::HeldState& h) { return h.line << kUnitShift; });
  put("state", [](const Trace::HeldState& h) { return h.state; });
}

template <class Put>
void each_column(const std::vector<Trace::Hold>&, Put put) {
  put("agent", [](const Trace::Hold& h) { return h.agent; });
  put("line", [](const Trace::Hold& h) { return h.line << kUnitShift; });
  put("at", [](const Trace::Hold& h) { return h.from; });
  put("until", [](const Trace::Hold& h) { return h.until; });
}

template <class Put>
void each_column(const std::vector<Trace::EntryFound>&, Put put) {
  put("at", [](const Trace::EntryFound& t) { return t.at; });
  put("resolver", [](const Trace::EntryFound& t) { return t.resolver; });
  put("line", [](const Trace::EntryFound& t) { return t.line << kUnitShift; });
  put("requester", [](const Trace::EntryFound& t) { return t.requester; });
  put("number", [](const Trace::EntryFound& t) { return t.number; });
  put("children", [](const Trace::EntryFound& t) { return t.children; });
  put("owner", [](const Trace::EntryFound& t) { return t.owner; });
  put("sharers", [](const Trace::EntryFound& t) { return t.sharers; });
}

template <class Put>
void each_column(const std::vector<Trace::Access>&, Put put) {
  put("hart", [](const Trace::Access& a) { return a.hart; });
  put("agent", [](const Trace::Access& a) { return a.core; });
  put("pc", [](const Trace::Access& a) { return a.pc; });
  put("address", [](const Trace::Access& a) { return a.address; });
  put("size", [](const Trace::Access& a) { return a.size; });
  put("kind", [](const Trace::Access& a) { return a.kind; });
  put("issued", [](const Trace::Access& a) { return a.issued; });
  put("at", [](const Trace::Access& a) { return a.at; });
  put("found", [](const Trace::Access& a) { return Wide{a.found}; });
  put("left", [](const Trace::Access& a) { return Wide{a.left}; });
}

template <class Put>
void each_column(const std::vector<Trace::Event>&, Put put) {
  put("at", [](const Trace::Event& e) { return e.at; });
  put("hart", [](const Trace::Event& e) { return e.hart; });
  put("what", [](const Trace::Event& e) { return e.what; });
  put("pc", [](const Trace::Event& e) { return e.pc; });
  put("value", [](const Trace::Event& e) { return Wide{e.value}; });
}

template <class Put>
void each_column(const std::vector<Log::Record>&, Put put) {
  put("requester", [](const Log::Record& t) { return t.name.requester; });
  put("number", [](const Log::Record& t) { return t.name.number; });
  put("resolver", [](const Log::Record& t) { return t.resolver; });
  put("line", [](const Log::Record& t) { return t.line << kUnitShift; });
  put("op", [](const Log::Record& t) { return request_of(t.op); });
  put("owner", [](const Log::Record& t) { return t.owner; });
  put("source", [](const Log::Record& t) { return t.source; });
  put("right", [](const Log::Record& t) { return t.right; });
  put("probes", [](const Log::Record& t) { return t.probes; });
  put("request", [](const Log::Record& t) { return t.request; });
  put("open", [](const Log::Record& t) { return t.open; });
  put("probe", [](const Log::Record& t) { return t.probe; });
  put("data", [](const Log::Record& t) { return t.data; });
  put("close", [](const Log::Record& t) { return t.close; });
}

// The tables of a trace, by name.
template <class Put>
void each_table(const Trace& trace, Put put) {
  put("messages", trace.messages);
  put("crossings", trace.crossings);
  put("states", trace.changes);
  put("held", trace.held());
  put("holds", trace.all_holds);
  put("turns", trace.entries_found);
  put("accesses", trace.accesses);
  put("harts", trace.events);
}

}  // namespace uncore
