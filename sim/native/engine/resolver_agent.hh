// A resolver as an agent of the machine: the protocol of coherence/resolver.hh given time,
// positions and capacities.
//
// Requests and probes from above wait for their slice and occupy it for `service`; answers, data
// and completions do not. Data of this level leave `data_hit` later. Entries are made when a line
// is first asked for and forgotten when nothing is known of it any more.
//
// Invariant: only quiet entries are evicted; where none is quiet, a set overflows for a while.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "coherence/resolver.hh"
#include "engine/packet.hh"
#include "kernel/line_map.hh"

namespace uncore {

class Engine;

// Children by ordinal: two words inline, more where a resolver has more than 128 children.
class ChildSet {
 public:
  explicit ChildSet(int children) {
    if (children > 128) more_.assign(static_cast<std::size_t>(children + 63) / 64, 0);
  }
  bool has(int c) const { return c >= 0 && (word(c) >> (c % 64) & 1); }
  void add(int c) { word(c) |= uint64_t{1} << (c % 64); }
  void remove(int c) {
    if (c >= 0) word(c) &= ~(uint64_t{1} << (c % 64));
  }
  bool any() const {
    for (std::size_t w = 0; w < words(); ++w)
      if (data()[w]) return true;
    return false;
  }
  void clear() {
    for (std::size_t w = 0; w < words(); ++w) data()[w] = 0;
  }
  template <class F>
  void each(F f) const {
    for (std::size_t w = 0; w < words(); ++w)
      for (uint64_t rest = data()[w]; rest; rest &= rest - 1)
        f(static_cast<int>(w * 64) + __builtin_ctzll(rest));
  }

 private:
  std::size_t words() const { return more_.empty() ? 2 : more_.size(); }
  const uint64_t* data() const { return more_.empty() ? inline_ : more_.data(); }
  uint64_t* data() { return more_.empty() ? inline_ : more_.data(); }
  uint64_t& word(int c) { return data()[c / 64]; }
  const uint64_t& word(int c) const { return data()[c / 64]; }

  uint64_t inline_[2] = {0, 0};
  std::vector<uint64_t> more_;
};

// Waiting requests in arrival order.
class WaitingQueue {
 public:
  using Msg = Message<Bytes>;
  bool empty() const { return first_ == waiting_.size(); }
  std::size_t size() const { return waiting_.size() - first_; }
  const Msg& front() const { return waiting_[first_]; }
  template <class F>
  bool any(F f) const {
    return std::any_of(waiting_.begin() + static_cast<std::ptrdiff_t>(first_), waiting_.end(), f);
  }
  void push(const Msg& m) { waiting_.push_back(m); }
  void pop() {
    if (++first_ == waiting_.size())
      waiting_.clear(), first_ = 0;
    else if (first_ >= 64)
      drop_passed();
  }

 private:
  void drop_passed() {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  std::vector<Msg> waiting_;
  std::size_t first_ = 0;
};

class ResolverAgent {
 public:
  // --- the protocol's environment (coherence/resolver.hh) ---
  using Data = Bytes;
  using Set = ChildSet;
  using Queue = WaitingQueue;
  using Msg = Message<Bytes>;
  using Record = Entry<ResolverAgent>;

  ResolverAgent(Engine& engine, Agent agent, const ResolverSpec& spec);

  const Protocol& protocol() const;
  const Policy& policy() const { return policy_; }
  Agent self() const { return agent_; }
  int children() const { return static_cast<int>(spec_.children.size()); }
  Agent child(int ordinal) const { return spec_.children[ordinal]; }
  int ordinal(Agent a) const;
  Agent above(uint64_t line) const;
  uint32_t next_request() { return ++requests_; }
  void send(const Msg& m);
  void send_stored(Record& e, const Msg& m);
  Msg apply(Bytes& data, const Msg& request) const;
  void memory_read(Record& e);
  void memory_write(Record& e, const Bytes& data);
  void keep(Record& e);
  void discard(Record& e);
  void opened(Record& e);
  void closed(Record& e);
  bool contended(const Record& e) const;
  bool young(const Msg& probe) const {
    return probe.since > 0 && now_ < probe.since + spec_.grants_until;
  }

  // --- the agent ---
  void arrive(PacketId id, Time now);  // at its slice
  void act(PacketId id, Time now);     // after service
  int32_t stop(uint64_t line) const { return spec_.slices[slice(line)]; }
  // The line's bytes if this level's are the valid ones; for functional reads.
  const Bytes* stored_data(uint64_t line) const;
  // Every entry with something outstanding, for the watchdog's report.
  template <class F>
  void each(F f) const {
    for (const auto& [line, e] : entries_) f(*e);
  }

  uint64_t sent = 0;       // the sender's count of rule T2
  std::vector<Time> busy;  // summed service time of each slice

 private:
  struct Slot : Record {
    using Record::Record;
    Agent origin = kNobody;  // who supplied the data in hand
    uint64_t used = 0;       // stamp for LRU
    bool in_store = false, in_tags = false;
  };
  static Slot& slot(Record& e) { return static_cast<Slot&>(e); }

  Agent origin_of(uint64_t line) const;
  void log_sent(const Msg& m);
  void log_received(const Record& e, const Msg& m);

  std::size_t slice(uint64_t line) const;
  bool must_look_up(const Packet& packet) const;
  Slot& entry(uint64_t line);
  void take_tag(Slot& s);
  uint64_t tag_set(uint64_t line) const;
  void forget_if_blank(Slot& s);
  void evict_if_full(std::vector<Slot*>& set, uint32_t ways, Slot& keep, bool recall);

  Engine& engine_;
  const Agent agent_;
  const ResolverSpec& spec_;
  Policy policy_;
  std::vector<Time> free_;  // by slice
  LineMap<std::unique_ptr<Slot>> entries_;
  LineMap<std::vector<Slot*>> store_, tags_;  // sets, made when touched
  uint32_t requests_ = 0;
  uint64_t clock_ = 0;
  Time now_ = 0;
};

}  // namespace uncore
