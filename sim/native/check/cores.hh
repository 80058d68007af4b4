// The cores of a system. A core is one hart, which performs one access at a time. Part of
// system.hh.
#pragma once

namespace uncore::check {

template <class Size>
void System<Size>::access(Agent c, ClientEvent event, int word) {
  Core& own = core(c);
  CoreEnv at{this, c};
  word_[static_cast<std::size_t>(c)] = static_cast<uint8_t>(word);
  if (event == ClientEvent::Evict) {
    CoreLogic::evict(at, own.copy);
  } else if (event == ClientEvent::Amo && CoreLogic::goes_far(at, own.copy, tree->far_owned)) {
    CoreLogic::ask_far(at, {word});
    own.far = true;
  } else if (CoreLogic::access(at, own.copy, event) == Begun::performed) {
    perform(c, event, word);
  } else if (!protocol->waits_for_grant(own.copy.state)) {
    throw Violation{"an access of core " + std::to_string(c) + " neither hits nor asks"};
  }
}

template <class Size>
typename System<Size>::Msg System<Size>::apply(Data& data, const Msg& m, Agent at) {
  if (data != golden) throw Violation{"an atomic found old data at " + std::to_string(at)};
  ++performed;
  ++golden[static_cast<std::size_t>(m.operation.word)];
  data = golden;
  Msg value;
  value.kind = Kind::Value;
  value.from = value.resolver = at;
  value.to = m.from;
  return value;
}

template <class Size>
void System<Size>::perform(Agent c, ClientEvent event, int word) {
  Core& own = core(c);
  if (own.data != golden)
    throw Violation{std::string(event == ClientEvent::Load ? "a load" : "a store") + " of core " +
                    std::to_string(c) + " found old data"};
  ++performed;
  if (event == ClientEvent::Load) return;
  ++golden[static_cast<std::size_t>(word)];
  own.data = golden;
}

template <class Size>
void System<Size>::receive(Agent c, const Msg& m) {
  Core& own = core(c);
  CoreEnv at{this, c};
  if (m.kind == Kind::Value)
    own.far = false;
  else if (m.kind == Kind::PutAck)
    CoreLogic::put_away(at, own.copy);
  else if (!is_probe(m.kind))
    receive_grant(at, m);
  else if (CoreLogic::is_early(at, own.copy, m))
    own.deferred.push(m);
  else
    CoreLogic::answer(at, own.copy, m);
}

template <class Size>
void System<Size>::receive_grant(CoreEnv& at, const Msg& m) {
  Copy& copy = core(at.agent).copy;
  const bool reads = protocol->waits_to_read(copy.state);
  if (CoreLogic::granted(at, copy, m) && !protocol->waits_for_grant(copy.state))
    perform(at.agent, reads ? ClientEvent::Load : ClientEvent::Store,
            word_[static_cast<std::size_t>(at.agent)]);
}

// Answers deferred probes in order, up to the first that must still wait in the copy's present
// state.
template <class Size>
void System<Size>::reconsider(Agent c) {
  Core& own = core(c);
  CoreEnv at{this, c};
  while (!own.deferred.empty()) {
    const Msg m = own.deferred.front();
    if (CoreLogic::is_early(at, own.copy, m)) return;
    own.deferred.pop();
    CoreLogic::answer(at, own.copy, m);
  }
}

}  // namespace uncore::check
