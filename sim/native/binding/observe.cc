// What the probes of a run saw, for Python: columns of NumPy arrays.
#include "binding/observe.hh"

#include <nanobind/ndarray.h>

namespace nb = nanobind;

namespace uncore {
namespace {

// One column: `field` of every row.
template <class Value = int64_t, class Row, class Field>
nb::object column(const std::vector<Row>& rows, Field field) {
  auto* values = new Value[rows.size()];
  const nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<Value*>(p); });
  for (std::size_t i = 0; i < rows.size(); ++i) values[i] = static_cast<Value>(field(rows[i]));
  return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values, {rows.size()}, owner));
}

nb::dict uses(const std::vector<Use>& rows) {
  nb::dict d;
  d["line"] = column(rows, [](const Use& u) { return u.line << kLineShift; });
  d["pc"] = column(rows, [](const Use& u) { return u.pc; });
  d["hart"] = column(rows, [](const Use& u) { return u.hart; });
  d["kind"] = column(rows, [](const Use& u) { return u.kind; });
  d["reads"] = column(rows, [](const Use& u) { return u.reads; });
  d["writes"] = column(rows, [](const Use& u) { return u.writes; });
  d["misses"] = column(rows, [](const Use& u) { return u.misses; });
  d["needless"] = column(rows, [](const Use& u) { return u.needless; });
  d["waited_ps"] = column(rows, [](const Use& u) { return u.waited; });
  d["critical_ps"] = column(rows, [](const Use& u) { return u.critical; });
  d["needless_ps"] = column(rows, [](const Use& u) { return u.needlessly; });
  d["read"] = column<uint64_t>(rows, [](const Use& u) { return u.read; });
  d["written"] = column<uint64_t>(rows, [](const Use& u) { return u.written; });
  return d;
}

nb::dict passed(const std::vector<Attribution::Passed>& rows) {
  using P = Attribution::Passed;
  nb::dict d;
  d["line"] = column(rows, [](const P& p) { return p.line << kLineShift; });
  d["source"] = column(rows, [](const P& p) { return p.from; });
  d["target"] = column(rows, [](const P& p) { return p.to; });
  d["times"] = column(rows, [](const P& p) { return p.times; });
  return d;
}

using T = Trace;

nb::dict sent(const std::vector<T::Sent>& rows) {
  nb::dict d;
  d["kind"] = column(rows, [](const T::Sent& m) { return m.kind; });
  d["sender"] = column(rows, [](const T::Sent& m) { return m.header.from; });
  d["receiver"] = column(rows, [](const T::Sent& m) { return m.header.to; });
  d["line"] = column(rows, [](const T::Sent& m) { return m.header.line << kLineShift; });
  d["number"] = column(rows, [](const T::Sent& m) { return m.header.id; });
  d["requester"] = column(rows, [](const T::Sent& m) { return m.header.requester; });
  d["right"] = column(rows, [](const T::Sent& m) { return m.header.right; });
  d["flags"] = column(rows, [](const T::Sent& m) { return m.header.flags; });
  d["carries"] = column(rows, [](const T::Sent& m) { return m.header.carries; });
  d["contended"] = column(rows, [](const T::Sent& m) { return m.header.contended; });
  d["hart"] = column(rows, [](const T::Sent& m) { return static_cast<int32_t>(m.hart); });
  d["sent"] = column(rows, [](const T::Sent& m) { return m.sent; });
  d["arrived"] = column(rows, [](const T::Sent& m) { return m.arrived; });
  d["acts"] = column(rows, [](const T::Sent& m) { return m.acts; });
  return d;
}

nb::dict crossings(const std::vector<T::Crossing>& rows) {
  nb::dict d;
  d["message"] = column(rows, [](const T::Crossing& c) { return c.message; });
  d["link"] = column(rows, [](const T::Crossing& c) { return c.link; });
  d["head"] = column(rows, [](const T::Crossing& c) { return c.head; });
  d["start"] = column(rows, [](const T::Crossing& c) { return c.start; });
  return d;
}

nb::dict states(const std::vector<T::Change>& rows) {
  nb::dict d;
  d["at"] = column(rows, [](const T::Change& c) { return c.at; });
  d["agent"] = column(rows, [](const T::Change& c) { return c.agent; });
  d["line"] = column(rows, [](const T::Change& c) { return c.line << kLineShift; });
  d["before"] = column(rows, [](const T::Change& c) { return c.before; });
  d["event"] = column(rows, [](const T::Change& c) { return c.event; });
  d["after"] = column(rows, [](const T::Change& c) { return c.after; });
  return d;
}

nb::dict held(const std::vector<T::Held>& rows) {
  nb::dict d;
  d["agent"] = column(rows, [](const T::Held& h) { return h.agent; });
  d["line"] = column(rows, [](const T::Held& h) { return h.line << kLineShift; });
  d["state"] = column(rows, [](const T::Held& h) { return h.state; });
  return d;
}

nb::dict holds(const std::vector<T::Hold>& rows) {
  nb::dict d;
  d["agent"] = column(rows, [](const T::Hold& h) { return h.agent; });
  d["line"] = column(rows, [](const T::Hold& h) { return h.line << kLineShift; });
  d["at"] = column(rows, [](const T::Hold& h) { return h.from; });
  d["until"] = column(rows, [](const T::Hold& h) { return h.until; });
  return d;
}

nb::dict turns(const std::vector<T::Turn>& rows) {
  nb::dict d;
  d["at"] = column(rows, [](const T::Turn& t) { return t.at; });
  d["resolver"] = column(rows, [](const T::Turn& t) { return t.resolver; });
  d["line"] = column(rows, [](const T::Turn& t) { return t.line << kLineShift; });
  d["requester"] = column(rows, [](const T::Turn& t) { return t.requester; });
  d["number"] = column(rows, [](const T::Turn& t) { return t.number; });
  d["children"] = column(rows, [](const T::Turn& t) { return t.children; });
  d["owner"] = column(rows, [](const T::Turn& t) { return t.owner; });
  d["sharers"] = column(rows, [](const T::Turn& t) { return t.sharers; });
  return d;
}

nb::dict performed(const std::vector<T::Access>& rows) {
  nb::dict d;
  d["hart"] = column(rows, [](const T::Access& a) { return a.hart; });
  d["agent"] = column(rows, [](const T::Access& a) { return a.core; });
  d["pc"] = column(rows, [](const T::Access& a) { return a.pc; });
  d["address"] = column(rows, [](const T::Access& a) { return a.address; });
  d["size"] = column(rows, [](const T::Access& a) { return a.size; });
  d["kind"] = column(rows, [](const T::Access& a) { return a.kind; });
  d["issued"] = column(rows, [](const T::Access& a) { return a.issued; });
  d["at"] = column(rows, [](const T::Access& a) { return a.at; });
  d["found"] = column<uint64_t>(rows, [](const T::Access& a) { return a.found; });
  d["left"] = column<uint64_t>(rows, [](const T::Access& a) { return a.left; });
  return d;
}

nb::dict harts(const std::vector<T::Event>& rows) {
  nb::dict d;
  d["at"] = column(rows, [](const T::Event& e) { return e.at; });
  d["hart"] = column(rows, [](const T::Event& e) { return e.hart; });
  d["what"] = column(rows, [](const T::Event& e) { return e.what; });
  d["pc"] = column(rows, [](const T::Event& e) { return e.pc; });
  d["value"] = column<uint64_t>(rows, [](const T::Event& e) { return e.value; });
  return d;
}

}  // namespace

nb::object trace_columns(const Engine& engine) {
  if (!engine.trace) return nb::none();
  const Trace& trace = *engine.trace;
  nb::dict d;
  d["messages"] = sent(trace.messages);
  d["crossings"] = crossings(trace.crossings);
  d["states"] = states(trace.changes);
  d["held"] = held(trace.held());
  d["holds"] = holds(trace.all_holds);
  d["turns"] = turns(trace.turns);
  d["accesses"] = performed(trace.accesses);
  d["harts"] = harts(trace.events);
  return d;
}

nb::object log_columns(const Engine& engine) {
  if (!engine.log) return nb::none();
  using T = Transaction;
  const std::vector<T> rows = engine.log->records();
  nb::dict d;
  d["requester"] = column(rows, [](const T& t) { return t.name.requester; });
  d["number"] = column(rows, [](const T& t) { return t.name.number; });
  d["resolver"] = column(rows, [](const T& t) { return t.resolver; });
  d["line"] = column(rows, [](const T& t) { return t.line << kLineShift; });
  d["op"] = column(rows, [](const T& t) { return request_of(t.op); });
  d["owner"] = column(rows, [](const T& t) { return t.owner; });
  d["source"] = column(rows, [](const T& t) { return t.source; });
  d["right"] = column(rows, [](const T& t) { return t.right; });
  d["probes"] = column(rows, [](const T& t) { return t.probes; });
  d["request"] = column(rows, [](const T& t) { return t.request; });
  d["open"] = column(rows, [](const T& t) { return t.open; });
  d["probe"] = column(rows, [](const T& t) { return t.probe; });
  d["data"] = column(rows, [](const T& t) { return t.data; });
  d["close"] = column(rows, [](const T& t) { return t.close; });
  return d;
}

nb::object line_columns(const Engine& engine) {
  if (!engine.attribution) return nb::none();
  const auto invalidations = engine.attribution->invalidations();
  nb::dict taken;
  taken["line"] = column(invalidations, [](const auto& i) { return i.first << kLineShift; });
  taken["times"] = column(invalidations, [](const auto& i) { return i.second; });
  nb::dict d;
  d["uses"] = uses(engine.attribution->uses());
  d["passed"] = passed(engine.attribution->passed());
  d["invalidations"] = taken;
  d["waited_ps"] = engine.attribution->waited_in_all;
  d["path_ps"] = engine.attribution->path.length();
  return d;
}

}  // namespace uncore
