// A resolver at one point in time: the `Env` of coherence/resolver.hh. Messages leave at that time;
// data of this level leave `data_hit` later.
#pragma once

#include "coherence/resolver.hh"
#include "fabric/atomic.hh"
#include "resolver/child_set.hh"
#include "resolver/waiting_queue.hh"
#include "storage/bytes.hh"
#include "time/queue.hh"

namespace uncore {

class ResolverAgent;

class ResolverAt {
 public:
  using Data = Bytes;
  using Msg = Message<Bytes>;
  using Set = ChildSet;
  using Queue = WaitingQueue<KeptMessage>;
  using E = Entry<ResolverAt>;

  ResolverAt(ResolverAgent& agent, Time now) : agent_(agent), now_(now) {}

  const Protocol& protocol() const;
  const Policy& policy() const;
  Agent self() const;
  int children() const;
  Agent child(int ordinal) const;
  int ordinal(Agent a) const;
  Agent above(uint64_t line) const;
  uint32_t next_request();
  void send(const E& e, const Msg& m);
  void send_stored(E& e, const Msg& m);
  Msg apply(const Bytes& data, const Msg& request) const;
  void memory_read(E& e);
  void memory_write(E& e, const Bytes& data);
  void keep(E& e);
  void discard(E& e);
  void opened(E& e);
  void closed(E& e);
  void entered(const E& e, ClientEvent event, State next) const;
  bool contended(const E& e) const;
  bool can_wait(const Msg& probe) const;

 private:
  Time read_data(E& e);

  ResolverAgent& agent_;
  const Time now_;
};

}  // namespace uncore
