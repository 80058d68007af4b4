#include "coherence/protocol.hh"

#include <algorithm>
#include <stdexcept>

namespace uncore {

Protocol::Protocol(const std::vector<uint32_t>& cells) {
  if (cells.size() != kCells) throw std::invalid_argument("protocol: wrong number of cells");
  auto from = cells.begin();
  const auto take = [&from](auto& table) {
    for (Cell& cell : table) cell.bits = *from++;
  };
  take(client_);
  take(resolver_);
  take(grant_);
  take(join_);
  take(transaction_);
  derive_properties();
}

void Protocol::derive_properties() {
  using enum ClientEvent;
  for (std::size_t i = 0; i < kStates; ++i) {
    const auto s = static_cast<State>(i);
    const auto may = [&](ClientEvent e) { return client(s, e).possible(); };
    const auto does = [&](ClientEvent e, uint32_t act) { return may(e) && client(s, e).has(act); };
    may_load.set(s, does(Load, Act::hit));
    may_store.set(s, does(Store, Act::hit));
    may_evict.set(s, may(Evict) && !does(Evict, Act::stall));
    is_dirty.set(s, does(ProbeM, Act::dirty));
    is_owner.set(s, does(ProbeM, Act::give));
    forwards.set(s, does(ProbeM, Act::give) && !is_dirty(s) && !may_store(s));
    waits_for_grant.set(s, may(DataS) || may(DataF) || may(DataE) || may(DataM) || may(Grant));
    waits_to_read.set(s, may(DataS));
    leaves.set(s, may(PutAck));
    // What waits for a bare grant has the data that the right is for, or would ask anew.
    const bool needs_no_data = may(Grant) && !does(Grant, Act::GetM);
    holds_copy.set(s, may_load(s) || does(ProbeM, Act::give) || needs_no_data);
  }
}

void protocol_error(std::string_view controller, std::string_view state, std::string_view event,
                    uint64_t line) {
  std::string what(controller);
  what.append(" in ").append(state).append(" met ").append(event);
  what.append(", which its table declares impossible (line ").append(std::to_string(line));
  throw ProtocolError{what + ")"};
}

}  // namespace uncore
