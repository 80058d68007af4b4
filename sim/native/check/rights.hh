// Checks the invariants of a system; called after every step. Part of system.hh.
#pragma once

namespace uncore::check {

template <class Size>
void System<Size>::check_rights() const {
  int readers = 0, owners = 0, writers = 0;
  Agent forwards = kNobody;  // resolver above the last core found in F; each may have one such core
  for (Agent a = 0; a < tree->cores; ++a) {
    const State s = core(a).copy.state;
    if (!protocol->may_load(s)) continue;
    ++readers;
    writers += protocol->may_store(s);
    owners += protocol->is_dirty(s);
    if (core(a).data != golden) throw Violation{"core " + std::to_string(a) + " can read old data"};
    if (!protocol->forwards(s)) continue;
    if (forwards == tree->parent(a)) throw Violation{"two cores of one resolver hold F"};
    forwards = tree->parent(a);
  }
  if (owners > 1 || (writers > 0 && readers > 1))
    throw Violation{"two cores hold rights that exclude each other"};
}

}  // namespace uncore::check
