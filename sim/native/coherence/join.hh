// A resolver towards the level above, whose client it is (coherence/client.hh): it asks for rights,
// and is asked for them (rules J). Part of resolver.hh.
//
// A probe from above is answered in the midst of a wait for the level above, with the right that is
// left; so waiting never forms a cycle (J2).
#pragma once

namespace uncore {

// What the client logic is told about the line: the level above sees one client in all that is here
// and below.
template <class Env>
class Resolver<Env>::UpperHalf {
 public:
  using Data = typename Env::Data;

  UpperHalf(Env& env, E& e) : env_(env), e_(e) {}

  const auto& protocol() const { return env_.protocol(); }
  Agent self() const { return env_.self(); }
  uint64_t number() const { return e_.line; }
  Agent above() const { return env_.above(e_.line); }
  uint32_t next_request() { return env_.next_request(); }
  void send(const Msg& m) { env_.send(m); }
  const Data* data() const {
    if (e_.carried) return &e_.in_hand;
    return e_.stored || e_.phase == Phase::put ? &e_.data : nullptr;
  }
  bool shares() const { return e_.stored || e_.owner != kNobody || e_.sharers.any(); }
  // An upgrade without data serves the requester only if it, or this level, surely has the bytes.
  bool needs_data() const {
    return !e_.stored && !protocol().is_dirty(e_.up.state) && !upgrades(env_, e_);
  }
  void fill(const Data& data) { Resolver::fill(env_, e_, data); }
  void enters(ClientEvent event, State next) { env_.enters(e_, event, next); }

 private:
  Env& env_;
  E& e_;
};

// Whether the right held above lets a child be granted what it asks for. (An E becomes M when the
// child is granted M.)
template <class Env>
bool Resolver<Env>::right_suffices(const Env& env, const E& e, const Msg& request) {
  return env.protocol().client(e.up.state, wish(request)).has(Act::hit);
}

template <class Env>
void Resolver<Env>::obtain(Env& env, E& e) {
  UpperHalf up(env, e);
  Up::access(up, e.up, wish(e.request));
}

// What has come from above.
template <class Env>
void Resolver<Env>::accept(Env& env, E& e, const Msg& m) {
  UpperHalf up(env, e);
  if (m.kind == Kind::PutAck) return Up::put_away(up, e.up);
  e.contended = m.contended;
  Up::granted(up, e.up, m);
}

// Clean data were dropped silently below: so is this level's right.
template <class Env>
void Resolver<Env>::drop(Env& env, E& e) {
  UpperHalf up(env, e);
  const bool dropped = Up::evict(up, e.up) == Evicted::dropped;
  if (!dropped || env.protocol().holds_copy(e.up.state)) throw lost_data();
}

// ---- being asked

// While a probe waits, requests of the children that need no right from above go first: `grants`
// of them, and as many as come while the request behind the probe is young.
template <class Env>
bool Resolver<Env>::children_first(Env& env, const E& e) {
  if (e.phase != Phase::idle || e.queue.empty()) return false;
  if (e.served >= env.policy().grants && !env.young(e.probe)) return false;
  const Msg& m = e.queue.front();
  return m.kind == Kind::Put || right_suffices(env, e, m);
}

template <class Env>
Waits Resolver<Env>::waits_for(const E& e) {
  if (e.phase == Phase::put) return Waits::put;
  if (e.open_reads > 0) return Waits::below;
  if (e.phase == Phase::idle || e.phase == Phase::probing) return Waits::idle;
  const bool above = e.phase == Phase::above || e.phase == Phase::above_probing;
  return above ? Waits::above : Waits::below;
}

template <class Env>
Cell Resolver<Env>::join_cell(Env& env, const E& e) {
  const Children c = children(env, e, kNoChild);
  const Waits waits = waits_for(e);
  const auto probe = static_cast<std::size_t>(e.probe.kind);
  const Cell cell = env.protocol().join(c, waits, static_cast<Probe>(probe));
  if (!cell.possible()) {
    std::string row(name::children[static_cast<std::size_t>(c)]);
    row.append(" ").append(name::waits[static_cast<std::size_t>(waits)]);
    protocol_error("join", row, name::probes[probe], e.line);
  }
  return cell;
}

template <class Env>
bool Resolver<Env>::probe_waits(Env& env, E& e) {
  if (e.answers_above() || Up::is_early(UpperHalf(env, e), e.up, e.probe)) return true;
  return join_cell(env, e).has(Ask::wait);
}

template <class Env>
TransactionEvent Resolver<Env>::probe_below(Env& env, E& e) {
  e.answers = 0;
  return ask_children(env, e, asks(env, join_cell(env, e)), kNoChild, kNobody);
}

// The children have answered: the client answers the level above.
template <class Env>
void Resolver<Env>::reply(Env& env, E& e) {
  const bool shares = e.probe.kind == Kind::ProbeS;
  if (e.answers & (Flag::dirty | Flag::own)) make_dirty(env, e);
  if (shares) {
    keep_owner_or_sharer(e);
    if (e.carried && env.policy().keeps_data)
      put_in_store(env, e, e.in_hand, e.dirty || (e.answers & (Flag::dirty | Flag::own)));
  } else {
    e.owner = kNobody;
    e.sharers.clear();
  }
  UpperHalf up(env, e);
  Up::answer(up, e.up, e.probe);
  keep_what_right_allows(env, e);
  e.carried = false;
}

// Of this level's data, after a probe.
template <class Env>
void Resolver<Env>::keep_what_right_allows(Env& env, E& e) {
  const State right = e.up.state;
  if (!env.protocol().holds_copy(right) && e.stored) return drop_data(env, e);
  if (!env.protocol().is_dirty(right)) e.dirty = false;
}

}  // namespace uncore
