// The cores of a system. A core is one hart, which performs one access at a time. Part of
// system.hh.
#pragma once

namespace uncore::check {

template <class Size>
void System<Size>::access(Agent c, ClientEvent event, int word) {
  Core& state = core(c);
  CoreEnv env{this, c};
  word_[static_cast<std::size_t>(c)] = static_cast<uint8_t>(word);
  if (event == ClientEvent::Evict) {
    CoreLogic::evict(env, state.copy);
  } else if (event == ClientEvent::Amo && CoreLogic::goes_far(env, state.copy, tree->far_owned)) {
    CoreLogic::ask_far(env, {word});
    state.far_in_flight = true;
  } else if (CoreLogic::access(env, state.copy, event) == BeginResult::performed) {
    perform(c, event, word);
  } else if (!protocol->waits_for_grant(state.copy.state)) {
    throw Violation{"an access of core " + std::to_string(c) + " neither hits nor asks"};
  }
}

template <class Size>
typename System<Size>::Msg System<Size>::apply(Data& data, const Msg& m, Agent agent) {
  if (data != golden) throw Violation{"an atomic found old data at " + std::to_string(agent)};
  ++performed;
  ++golden[static_cast<std::size_t>(m.operation.word)];
  data = golden;
  Msg value;
  value.kind = Kind::Value;
  value.from = value.resolver = agent;
  value.to = m.from;
  return value;
}

template <class Size>
void System<Size>::perform(Agent c, ClientEvent event, int word) {
  Core& state = core(c);
  if (state.data != golden)
    throw Violation{std::string(event == ClientEvent::Load ? "a load" : "a store") + " of core " +
                    std::to_string(c) + " found old data"};
  ++performed;
  if (event == ClientEvent::Load) return;
  ++golden[static_cast<std::size_t>(word)];
  state.data = golden;
}

template <class Size>
void System<Size>::receive(Agent c, const Msg& m) {
  Core& state = core(c);
  CoreEnv env{this, c};
  if (m.kind == Kind::Value)
    state.far_in_flight = false;
  else if (m.kind == Kind::PutAck)
    CoreLogic::put_away(env, state.copy);
  else if (!is_probe(m.kind))
    receive_grant(env, m);
  else if (CoreLogic::is_early(env, state.copy, m))
    state.deferred.push(m);
  else
    CoreLogic::answer(env, state.copy, m);
}

template <class Size>
void System<Size>::receive_grant(CoreEnv& env, const Msg& m) {
  Copy& copy = core(env.agent).copy;
  const bool reads = protocol->waits_to_read(copy.state);
  if (CoreLogic::granted(env, copy, m) && !protocol->waits_for_grant(copy.state))
    perform(env.agent, reads ? ClientEvent::Load : ClientEvent::Store,
            word_[static_cast<std::size_t>(env.agent)]);
}

// Answers deferred probes in order, up to the first that must still wait in the copy's present
// state.
template <class Size>
void System<Size>::reconsider(Agent c) {
  Core& state = core(c);
  CoreEnv env{this, c};
  while (!state.deferred.empty()) {
    const Msg m = state.deferred.front();
    if (CoreLogic::is_early(env, state.copy, m)) return;
    state.deferred.pop();
    CoreLogic::answer(env, state.copy, m);
  }
}

}  // namespace uncore::check
