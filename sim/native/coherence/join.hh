// Probes that the level above sends to a join (J2, J3). Part of resolver.hh.
//
// Interface: must_wait() and children_first() tell whether a probe has to wait. If it need not,
// call ask_children(), and reply() when the children have answered. Invariant: a join that waits
// for a grant from above still answers probes from above, with the right that it holds at that
// moment. So there is no deadlock (J2).
#pragma once

#include "coherence/above.hh"
#include "coherence/probes.hh"

namespace uncore {

template <class Env>
class Join {
 public:
  using E = Entry<Env>;

  Join(Env& env, E& entry) : env_(env), entry_(entry) {}

  bool children_first() const;
  bool must_wait() const {
    return entry_.answers_above() || Above(env_, entry_).is_early(entry_.probe) ||
           cell().has(JoinAction::wait);
  }

  // Probes the children that join.table names. They must answer before the join does.
  TransactionEvent ask_children() {
    entry_.poll.flags = 0;
    return Probes(env_, entry_).ask(cell(), kNobody, kNobody);
  }
  void reply();

 private:
  Waits waits() const;  // returns the second word of the row in join.table
  Cell cell() const;    // returns the cell of join.table for the probe
  void take_answers();

  Env& env_;
  E& entry_;
};

// Returns whether a child's request at the head of the queue is served before the waiting probe
// (J3). The request must need no further right from above. In addition, either fewer than
// `max_grants_before_probe` requests have been served since the probe arrived, or the request that
// caused the probe is younger than `grants_until`.
template <class Env>
bool Join<Env>::children_first() const {
  if (entry_.phase != Phase::idle || entry_.queue.empty()) return false;
  if (entry_.served >= env_.policy().max_grants_before_probe && !env_.can_wait(entry_.probe))
    return false;
  const auto& m = entry_.queue.front();
  return m.kind == Kind::Put || Above<Env>::suffices(env_, entry_, m);
}

template <class Env>
Waits Join<Env>::waits() const {
  const Phase phase = entry_.phase;
  if (phase == Phase::put) return Waits::put;
  if (entry_.open_reads > 0) return Waits::below;
  if (phase == Phase::idle || phase == Phase::probing) return Waits::idle;
  const bool above = phase == Phase::above || phase == Phase::above_probing;
  return above ? Waits::above : Waits::below;
}

template <class Env>
Cell Join<Env>::cell() const {
  const Children children = Probes(env_, entry_).row(kNobody);
  const Waits waiting = waits();
  const auto probe = static_cast<std::size_t>(entry_.probe.kind);
  const Cell cell = env_.protocol().join(children, waiting, static_cast<Probe>(probe));
  if (!cell.possible()) {
    std::string row(name::children[static_cast<std::size_t>(children)]);
    row.append(" ").append(name::waits[static_cast<std::size_t>(waiting)]);
    protocol_error("join", row, name::probes[probe], entry_.line);
  }
  return cell;
}

// Called when the children have answered: answers the probe as a client of the level above. Then
// drops this level's copy, or marks it clean, if the right that is left demands that.
template <class Env>
void Join<Env>::reply() {
  Above above(env_, entry_);
  above.learn(entry_.poll);
  take_answers();
  above.answer(entry_.probe);
  const State right = entry_.above.state;
  if (!env_.protocol().holds_copy(right) && entry_.copy.stored)
    Level(env_, entry_).drop();
  else if (!env_.protocol().is_dirty(right))
    entry_.copy.dirty = false;
  entry_.in_hand.valid = false;
}

template <class Env>
void Join<Env>::take_answers() {
  if (entry_.probe.kind != Kind::ProbeS) return entry_.holders.clear();
  entry_.holders.owner_answered(entry_.poll.flags);
  if (entry_.in_hand.valid && env_.policy().keeps_data)
    Level(env_, entry_).store(entry_.in_hand.data, entry_.copy.dirty || entry_.poll.dirty());
}

}  // namespace uncore
