// The protocol's tables, which record the cells that are looked up. The record is the coverage of a
// check.
#pragma once

#include <bitset>
#include <vector>

#include "coherence/protocol.hh"

namespace uncore::check {

class RecordingProtocol : public StateProperties {
 public:
  explicit RecordingProtocol(const Protocol& p) : StateProperties(p), protocol_(p) {}

  Cell client(State s, ClientEvent e) const {
    mark(0, Protocol::kClientEvents, s, e);
    return protocol_.client(s, e);
  }
  Cell resolver(Children c, Request r) const {
    mark(kResolver, Protocol::kRequests, c, r);
    return protocol_.resolver(c, r);
  }
  Cell grant(Request r, Answers a) const {
    mark(kGrant, Protocol::kAnswers, r, a);
    return protocol_.grant(r, a);
  }
  Cell join(Children c, Waits w, Probe e) const {
    mark(kJoin + static_cast<std::size_t>(c) * Protocol::kWaits * Protocol::kProbes,
         Protocol::kProbes, w, e);
    return protocol_.join(c, w, e);
  }
  Cell transaction(Phase p, TransactionEvent e) const {
    mark(kTransaction, Protocol::kTransactionEvents, p, e);
    return protocol_.transaction(p, e);
  }

  // Returns the positions in the packed tables of the cells that have been looked up.
  std::vector<uint32_t> cells() const {
    std::vector<uint32_t> out;
    for (std::size_t cell = 0; cell < Protocol::kCells; ++cell)
      if (reached_[cell]) out.push_back(static_cast<uint32_t>(cell));
    return out;
  }

 private:
  static constexpr std::size_t kResolver = Protocol::kStates * Protocol::kClientEvents;
  static constexpr std::size_t kGrant = kResolver + Protocol::kChildren * Protocol::kRequests;
  static constexpr std::size_t kJoin = kGrant + Protocol::kRequests * Protocol::kAnswers;
  static constexpr std::size_t kTransaction =
      kJoin + Protocol::kChildren * Protocol::kWaits * Protocol::kProbes;

  template <class Row, class Column>
  void mark(std::size_t table, std::size_t width, Row row, Column column) const {
    reached_.set(table + static_cast<std::size_t>(row) * width + static_cast<std::size_t>(column));
  }

  const Protocol& protocol_;
  mutable std::bitset<Protocol::kCells> reached_;
};

}  // namespace uncore::check
