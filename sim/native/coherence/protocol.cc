#include "coherence/protocol.hh"

#include <algorithm>
#include <stdexcept>

namespace uncore {
namespace {

// Returns a state's name from two 32-bit words that hold up to eight letters, the first letter in
// the lowest byte of `first`.
std::string unpacked(uint32_t first, uint32_t second) {
  std::string name;
  for (uint64_t letters = uint64_t{second} << 32 | first; letters != 0; letters >>= 8)
    name += static_cast<char>(letters & 0xff);
  return name;
}

}  // namespace

Protocol::Protocol(const std::vector<uint32_t>& packed) {
  const std::size_t states = packed.empty() ? 0 : packed.front();
  if (states == 0 || states > kStates || packed.size() != 1 + 2 * states + kCells)
    throw std::invalid_argument("protocol: wrong number of cells");
  auto from = packed.begin() + 1;
  for (std::size_t s = 0; s < states; ++s, from += 2) names.push_back(unpacked(from[0], from[1]));
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
  full_right = grant(Request::GetM, Answers::nobody).next();
  shared_right = grant(Request::GetS, Answers::outside).next();
  passed_right = grant(Request::GetS, Answers::passed).next();
  const auto may = [&](State s, ClientEvent e) { return client(s, e).possible(); };
  const auto does = [&](State s, ClientEvent e, uint32_t act) {
    return may(s, e) && client(s, e).has(act);
  };
  std::vector<State> states(names.size());
  for (std::size_t i = 0; i < states.size(); ++i) states[i] = static_cast<State>(i);
  for (const State s : states) {
    may_load.set(s, does(s, Load, Act::hit));
    may_store.set(s, does(s, Store, Act::hit));
    is_written.set(s, may_store(s) && client(s, Store).next() == s);
    may_evict.set(s, may(s, Evict) && !does(s, Evict, Act::stall));
    is_dirty.set(s, does(s, ProbeM, Act::dirty));
    is_owner.set(s, does(s, ProbeM, Act::give));
    has_stays |= may(s, Stays);
    forwards.set(s, is_owner(s) && !is_dirty(s) && !may_store(s));
    leaves.set(s, may(s, PutAck));
    // A state that a Grant without data completes has the data already. A state without data
    // answers such a Grant with a new GetM.
    const bool needs_no_data = may(s, Grant) && !does(s, Grant, Act::GetM);
    holds_copy.set(s, may_load(s) || is_owner(s) || needs_no_data);
  }
  for (const State s : states) {
    bool some = may(s, Grant), shared = false;
    for (const State right : states) {
      const bool granted = may(s, data_event(right));
      some |= granted;
      shared |= granted && !may_store(right);
    }
    waits_for_grant.set(s, some);
    waits_to_read.set(s, shared);
  }
}

std::string StateProperties::name(ClientEvent e) const {
  const auto event = static_cast<std::size_t>(e);
  const std::size_t num_named = name::client_events.size();
  return event < num_named ? std::string(name::client_events[event])
                           : "Data" + names[event - num_named];
}

void protocol_error(std::string_view controller, std::string_view state, std::string_view event,
                    uint64_t line) {
  std::string message(controller);
  message.append(" in ").append(state).append(" met ").append(event);
  message.append(", which its table declares impossible (line ").append(std::to_string(line));
  throw ProtocolError{message + ")"};
}

}  // namespace uncore
