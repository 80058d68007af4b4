// The steps that are possible in a system. Part of system.hh.
#pragma once

namespace uncore::check {

template <class Size>
bool System<Size>::may_begin(const Step& s) const {
  if (s.what == Step::What::amo && (!tree->has_far_atomics || core(s.index).far_in_flight))
    return false;
  if (s.of_core()) {
    const Cell cell = protocol->client(core(s.index).copy.state, s.event());
    // An access that would stall is left out, because it changes nothing.
    return cell.possible() && !cell.has(Act::stall) && !at_unblock_limit(s.index);
  }
  const Node& node = tree->node(s.index);
  const Entry& e = entry(s.index);
  if (!e.quiet() || e.blank(node.policy.root)) return false;
  return s.what == Step::What::recall ? node.recalls : e.copy.stored;
}

template <class Size>
void System<Size>::steps(std::vector<Step>& out) const {
  out.clear();
  for (int m = 0; m < messages.size(); ++m)
    if (may_arrive(messages[m])) out.push_back({Step::What::deliver, m});
  if (reading) out.push_back({Step::What::memory});
  const auto consider = [&](Step s) {
    if (may_begin(s)) out.push_back(s);
  };
  for (Agent c = 0; c < tree->cores; ++c)
    for (const auto what :
         {Step::What::load, Step::What::store, Step::What::amo, Step::What::evict})
      consider({what, c});
  for (Agent a = tree->cores; a < tree->agents(); ++a)
    for (const auto what : {Step::What::evict_data, Step::What::recall}) consider({what, a});
}

}  // namespace uncore::check
