// Invariants of a system, checked after every step. Part of system.hh.
#pragma once

namespace uncore::check {

template <class Size>
void System<Size>::check_rights() const {
  int readers = 0, owners = 0, writers = 0;
  Agent forwards = kNobody;  // the resolver of the last F seen; each may have one core in F
  for (Agent a = 0; a < tree->cores; ++a) {
    const State s = core(a).copy.state;
    if (!watched->may_load(s)) continue;
    ++readers;
    writers += watched->may_store(s);
    owners += watched->is_dirty(s);
    if (core(a).data != golden) throw Violation{"core " + std::to_string(a) + " can read old data"};
    if (!watched->forwards(s)) continue;
    if (forwards == tree->parent(a)) throw Violation{"two cores of one resolver hold F"};
    forwards = tree->parent(a);
  }
  if (owners > 1 || (writers > 0 && readers > 1))
    throw Violation{"two cores hold rights that exclude each other"};
}

}  // namespace uncore::check
