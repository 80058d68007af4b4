// Describes a system and its steps as text, for counterexamples. Part of system.hh.
#pragma once

namespace uncore::check {

inline std::string agent_name(const Tree& tree, Agent a) {
  if (a == kNobody) return "-";
  if (tree.is_core(a)) return "core" + std::to_string(a);
  if (a == tree.agents() - 1) return "root";
  return "join" + std::to_string(a - tree.cores);
}

template <class Data>
std::string describe(const Tree& tree, const StateProperties& states, const Message<Data>& m) {
  std::string out(name::messages[static_cast<std::size_t>(m.kind)]);
  if (m.kind == Kind::Data) out.append("-").append(states.name(m.right));
  if (m.kind == Kind::Answer) {
    constexpr std::array flags = {"gave", "dirty", "shared", "own", "carries", "handed", "passed"};
    out += "(";
    for (std::size_t f = 0; f < flags.size(); ++f)
      if (m.flags >> f & 1) out.append(out.back() == '(' ? "" : "+").append(flags[f]);
    out += ")";
  }
  out.append(" ").append(agent_name(tree, m.from)).append(" to ").append(agent_name(tree, m.to));
  if (is_probe(m.kind) && m.requester != kNobody) out += " for " + agent_name(tree, m.requester);
  return out;
}

template <class Size>
std::string System<Size>::describe(const Step& s) const {
  switch (s.what) {
    case Step::What::deliver:
      return check::describe(*tree, *protocol, messages[s.index]);
    case Step::What::memory:
      return "the memory answers";
    case Step::What::load:
      return agent_name(*tree, s.index) + " loads";
    case Step::What::store:
      return agent_name(*tree, s.index) + " stores";
    case Step::What::amo:
      return agent_name(*tree, s.index) + " does an atomic";
    case Step::What::evict:
      return agent_name(*tree, s.index) + " evicts";
    case Step::What::evict_data:
      return agent_name(*tree, s.index) + " evicts its data";
    case Step::What::recall:
      return agent_name(*tree, s.index) + " recalls the line";
  }
  return "";
}

// Returns a description of each message under way.
template <class System>
std::vector<std::string> under_way(const System& system) {
  std::vector<std::string> out;
  for (const auto& m : system.messages) out.push_back(describe(*system.tree, *system.protocol, m));
  return out;
}

// Returns the right that each agent holds: core0=M core1=I join0=M ...
template <class System>
std::string rights(const System& system) {
  std::string out;
  for (Agent a = 0; a < system.tree->agents(); ++a) {
    out.append(a ? " " : "").append(agent_name(*system.tree, a)).append("=");
    out.append(system.protocol->name(system.copy(a).state));
  }
  return out;
}

}  // namespace uncore::check
