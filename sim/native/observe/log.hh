// The transaction log (section L of docs/model.md), with which engines are compared.
//
// A request is identified by its requester and the requester's count. Its record is made when the
// request leaves, and is in the log once the resolver has closed the transaction.
//
// Interface: requested, opened, probed, supplied, closed and arrived are called when the event of
// that name happens, records() at the end of the run. Invariant: the log does not change a run.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <vector>

#include "coherence/message.hh"
#include "time/queue.hh"

namespace uncore {

// Identifies a request (L2).
struct RequestName {
  Agent requester = kNobody;
  uint32_t number = 0;
};

class Log {
 public:
  // A transaction.
  struct Record {
    static constexpr int64_t kNotYet = -1;  // the time of something that has not happened yet

    RequestName name;
    Agent resolver = kNobody, owner = kNobody, source = kNobody;
    Kind op = Kind::GetS;
    State right = State::I;
    uint64_t line = 0;
    int64_t probes = 0;
    int64_t request = kNotYet, open = kNotYet, probe = kNotYet, data = kNotYet, close = kNotYet;
  };

  // Called when a request leaves its requester for `resolver`.
  void requested(RequestName name, Kind op, Agent resolver, uint64_t line, Time when);
  void opened(RequestName name, Agent owner, Time when);
  void probed(RequestName name, Time when);
  void supplied(RequestName name, Agent source);
  void closed(RequestName name, State right, Time when);
  // Called when the data, the grant or the PutAck reach the requester.
  void arrived(RequestName name, Time when);

  // Returns the records of the transactions that have closed, in the order of L8.
  std::vector<Record> records() const;

 private:
  Record* find(RequestName name);
  static uint64_t key(RequestName name) {
    return static_cast<uint64_t>(name.requester) << 32 | name.number;
  }

  std::vector<Record> records_;
  tsl::robin_map<uint64_t, std::size_t>
      under_way_;  // key of a request -> its position in `records_`
};

}  // namespace uncore
