// Packs a system of one-word lines into a few 64-bit words. Equivalent states have equal words, so
// that each is visited once.
//
//   Packer<System> packer(tree, protocol);
//   packer.pack(system, words);        canonical words
//   packer.unpack(words, system);
//   normalise, write and renamings     the parts of pack(), used for machines with two lines
//
// Three abstractions make more states equivalent. Data: the protocol copies data and never examines
// them, so a value is only "newest" or "old". Request ids: an id is compared only with the id for
// which a client waits, so it is only "awaited" or "old". Symmetry: renaming cores and resolvers by
// an automorphism of the tree changes nothing, so the renaming with the smallest words is chosen.
// Besides, fields that will be written before they are read again are cleared (`normalise`).
#pragma once

#include <algorithm>
#include <vector>

#include "check/system.hh"
#include "check/words.hh"

namespace uncore::check {

template <class System>
class Packer {
 public:
  using Msg = typename System::Msg;
  using Entry = typename System::Entry;

  Packer(const Tree& t, const RecordingProtocol& p)
      : tree_(t), states_(p), blank_(t, p), renamings_(check::renamings(t)) {}

  // Packs the system under the renaming that gives the smallest words. It also normalises the
  // system, which does not change the system's behaviour.
  void pack(System& normal, Words& out) {
    normalise(normal);
    out.clear();
    const auto best = smallest_keys(normal);
    for (const Renaming& r : renamings_) {
      if (keys(normal, r) != best) continue;
      write(normal, r, other_);
      if (out.empty() || other_ < out) out.swap(other_);
    }
  }

  void unpack(const uint64_t* words, System& system) {
    system = blank_;
    system.golden = {1};
    system.ids.fill(1);
    Reader in(words);
    fields(in, system);
    for (Agent a = 0; a < tree_.cores; ++a) unpack_list(in, system.core(a).deferred);
    for (Agent a = tree_.cores; a < tree_.agents(); ++a) unpack_list(in, system.entry(a).queue);
    unpack_list(in, system.messages);
  }

  const std::vector<Renaming>& renamings() const { return renamings_; }

  // Writes the words of a normalised system under one renaming.
  void write(const System& s, const Renaming& r, Words& out) {
    out.clear();
    Writer ar(out, r);
    fields(ar, s, r);
    for (Agent to = 0; to < tree_.cores; ++to) list(ar, s.core(r.origin(to)).deferred);
    for (Agent to = tree_.cores; to < tree_.agents(); ++to) list(ar, s.entry(r.origin(to)).queue);
    list(ar, s.messages);
    ar.flush();
    std::sort(out.end() - s.messages.size(), out.end());  // the network keeps no order
  }

  // Clears the fields that have no influence on how the system behaves.
  void normalise(System& s) {
    for (Agent a = 0; a < tree_.cores; ++a)
      for (Msg& m : s.core(a).deferred) normalise(s, m);
    for (Msg& m : s.messages) normalise(s, m);
    for (Agent a = tree_.cores; a < tree_.agents(); ++a) normalise(s, a, s.entry(a));
    for (Agent a = 0; a < tree_.cores; ++a) {
      auto& core = s.core(a);
      if (!states_.holds_copy(core.copy.state)) core.data = {};
      normalise(s, core.data);
    }
    normalise(s, s.memory);
    for (Agent a = 0; a < tree_.agents(); ++a) {  // last, because current() compares with it
      Copy& copy = tree_.is_core(a) ? s.core(a).copy : s.entry(a).above;
      copy.request = states_.waits_for_grant(copy.state);
    }
    s.golden = {1};
    s.ids.fill(1);
  }

 private:
  // Packs or unpacks all fields except the lists of messages. One function does both, so that the
  // order of the fields is the same.
  template <class Archive, class Sys>
  void fields(Archive& ar, Sys& s, const Renaming& r) {
    for (Agent to = 0; to < tree_.cores; ++to) {
      auto& core = s.core(r.origin(to));
      ar.bits(core.copy.state, 5);
      ar.bits(core.copy.request, 1);
      ar.bits(core.data[0], 1);
      ar.bits(core.far_in_flight, 1);
    }
    ar.bits(s.memory[0], 1);
    ar.bits(s.reading, 1);
    for (Agent to = tree_.cores; to < tree_.agents(); ++to) {
      const Agent a = r.origin(to);
      entry(ar, a, s.entry(a));
    }
  }
  void fields(Reader& in, System& s) { fields(in, s, renamings_.front()); }

  template <class Archive, class L>
  void entry(Archive& ar, Agent a, L& l) {
    ar.bits(l.above.state, 5);
    ar.bits(l.above.request, 1);
    ar.child(a, l.holders.owner);
    ar.bits(l.holders.owner_grant, 1);
    ar.set(a, l.holders.sharers);
    for (auto* flag :
         {&l.holders.overflowed, &l.copy.stored, &l.copy.dirty, &l.in_hand.valid, &l.probed})
      ar.bits(*flag, 1);
    ar.bits(l.copy.data[0], 1);
    ar.bits(l.in_hand.data[0], 1);
    ar.bits(l.phase, 4);
    ar.bits(l.poll.waiting, 3);
    ar.bits(l.poll.flags, 7);
    ar.bits(l.open_reads, 4);
    ar.bits(l.served, 3);
    if (l.busy()) message(ar, l.request);
    if (l.probed || l.answers_above()) message(ar, l.probe);
  }

  template <class Archive, class M>
  void message(Archive& ar, M& m) {
    ar.bits(m.kind, 4);
    ar.bits(m.flags, 7);
    ar.bits(m.right, 5);
    ar.bits(m.wants_unblock, 1);
    ar.bits(m.carries, 1);
    ar.bits(m.data[0], 1);
    ar.agent(m.from);
    ar.agent(m.to);
    ar.agent(m.requester);
    ar.agent(m.resolver);
    ar.bits(m.id, 1);
    ar.bits(m.grant, 1);
  }

  // Writes the length of a list, then one word for each message.
  template <class Queue>
  void list(Writer& ar, const Queue& queue) {
    ar.bits(queue.size(), 5);
    if (queue.empty()) return;
    for (const Msg& m : queue) {
      ar.flush();
      message(ar, m);
    }
    ar.flush();
  }

  template <class Queue>
  void unpack_list(Reader& in, Queue& queue) {
    int size = 0;
    in.bits(size, 5);
    queue.clear();
    for (int i = 0; i < size; ++i) {
      in.flush();
      Msg m;
      message(in, m);
      queue.push(m);
    }
    if (size > 0) in.flush();
  }

  // --- fields without influence -----------------------------------------------------------------

  void normalise(const System& s, Agent a, Entry& l) {
    if (l.poll.waiting == 0) l.poll.flags = 0;
    if (l.phase == Phase::probing) l.request = {};
    if (!l.in_hand.valid) l.in_hand.data = {};
    if (!l.copy.stored && l.phase != Phase::put) l.copy.data = {};
    if (!l.probed) l.served = 0;
    Holders<SmallSet>& h = l.holders;
    h.owner_grant = h.owner != kNobody && current(s, tree_.node(a).first + h.owner, h.owner_grant);
    normalise(s, l.copy.data);
    normalise(s, l.in_hand.data);
    normalise(s, l.request);
    normalise(s, l.probe);
    for (Msg& m : l.queue) normalise(s, m);
  }

  void normalise(const System& s, Msg& m) {
    const bool asks = m.kind == Kind::GetS || m.kind == Kind::GetM || m.kind == Kind::Upg;
    m.id = asks && current(s, m.from, m.id);
    m.grant = m.grant != 0 && current(s, m.to, m.grant);
    if (is_probe(m.kind) && m.requester == kNobody) m.right = State::I, m.wants_unblock = false;
    if (!m.carries) m.data = {};
    normalise(s, m.data);
  }

  static void normalise(const System& s, typename System::Data& data) {
    data[0] = data == s.golden;
  }

  bool current(const System& s, Agent a, uint32_t id) const {
    const Copy& copy = s.copy(a);
    return states_.waits_for_grant(copy.state) && copy.request == id;
  }

  // --- choice of a renaming ---------------------------------------------------------------------

  // Keys of the cores, computed from properties that do not refer to other cores. Only the
  // renamings that give the smallest list of keys are tried, and these are few.
  using Keys = std::array<uint32_t, 8>;
  Keys keys(const System& s, const Renaming& r) const {
    Keys out{};
    for (Agent a = 0; a < tree_.cores; ++a) out[static_cast<std::size_t>(r.agent(a))] = key(s, a);
    return out;
  }
  uint32_t key(const System& s, Agent a) const {
    const auto& core = s.core(a);
    const Entry& l = s.entry(tree_.parent(a));
    const int ordinal = tree_.ordinal(a);
    return static_cast<uint32_t>(core.copy.state) << 4 | core.data[0] << 3 |
           static_cast<uint32_t>(l.holders.owner == ordinal) << 2 |
           static_cast<uint32_t>(l.holders.sharers.has(ordinal)) << 1 |
           static_cast<uint32_t>(!core.deferred.empty());
  }
  Keys smallest_keys(const System& s) const {
    Keys best = keys(s, renamings_.front());
    for (const Renaming& r : renamings_) best = std::min(best, keys(s, r));
    return best;
  }

  const Tree& tree_;
  const StateProperties& states_;
  System blank_;
  std::vector<Renaming> renamings_;
  Words other_;
};

}  // namespace uncore::check
