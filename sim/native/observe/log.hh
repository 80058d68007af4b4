// The transaction log (section L of docs/model.md), by which engines are compared.
//
// Requests are named by requester and number. A record begins when its request leaves, and counts
// once the resolver has closed it.
//
// Interface: requested, opened, probed, supplied, closed, arrived as things happen; records() at
// the end. Invariant: a run does the same with a log and without.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <vector>

#include "coherence/message.hh"
#include "time/queue.hh"

namespace uncore {

// A request's name (L2).
struct RequestName {
  Agent requester = kNobody;
  uint32_t number = 0;
};

class Log {
 public:
  // A transaction.
  struct Record {
    static constexpr int64_t kNotYet = -1;  // time of what has not happened

    RequestName name;
    Agent resolver = kNobody, owner = kNobody, source = kNobody;
    Kind op = Kind::GetS;
    State right = State::I;
    uint64_t line = 0;
    int64_t probes = 0;
    int64_t request = kNotYet, open = kNotYet, probe = kNotYet, data = kNotYet, close = kNotYet;
  };

  // The request leaves its requester for `resolver`.
  void requested(RequestName name, Kind op, Agent resolver, uint64_t line, Time when);
  void opened(RequestName name, Agent owner, Time when);
  void probed(RequestName name, Time when);
  void supplied(RequestName name, Agent source);
  void closed(RequestName name, State right, Time when);
  // The data, the grant or the PutAck reached the requester.
  void arrived(RequestName name, Time when);

  // The transactions that closed, in the order of L8.
  std::vector<Record> records() const;

 private:
  Record* find(RequestName name);
  static uint64_t key(RequestName name) {
    return static_cast<uint64_t>(name.requester) << 32 | name.number;
  }

  std::vector<Record> all_;
  tsl::robin_map<uint64_t, std::size_t> under_way_;  // request to its position in `all_`
};

}  // namespace uncore
