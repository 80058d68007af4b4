// Properties of the client's states, for code that has a state but no event.
//
//   protocol.may_store(state), protocol.is_dirty(state), ...
//
// Each property is derived from the cells of the state's row in client.table (protocol.cc).
// Invariant: no code depends on particular states, except on I, in which every line begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uncore {

// A state's position in client.table.
enum class State : uint8_t { I };
enum class ClientEvent : uint8_t;
inline constexpr std::size_t kMaxStates = 32;

class StateSet {
 public:
  bool operator()(State s) const { return bits_ >> static_cast<unsigned>(s) & 1; }
  void set(State s, bool in) { bits_ |= uint64_t{in} << static_cast<unsigned>(s); }

 private:
  uint64_t bits_ = 0;
};

struct StateProperties {
  StateSet may_load;    // a load needs no request to the level above
  StateSet may_store;   // a store needs no request either, because there is no other copy
  StateSet is_written;  // a store does not change the state
  StateSet is_dirty;    // the data differ from the level above, or must be treated as if they did
  StateSet holds_copy;  // the line's data are here
  StateSet waits_for_grant;  // a request is under way
  StateSet waits_to_read;    // a request for a read is under way
  StateSet leaves;           // a writeback is under way
  StateSet may_evict;        // there is a copy, and nothing under way
  StateSet is_owner;         // the client sends the data when it is probed
  StateSet forwards;         // a sharer that sends its clean data to readers (F)

  State full_right{};      // the right that a root holds, and that a writer is granted (M)
  State shared_right{};    // the right granted to a reader if others share the line (S)
  State passed_right{};    // the right granted to a reader to which the owner passes the line (R12)
  bool has_stays = false;  // the client table has the event Stays
  std::vector<std::string> names;

  const std::string& name(State s) const { return names[static_cast<std::size_t>(s)]; }
  std::string name(ClientEvent e) const;
  bool transient(State s) const { return waits_for_grant(s) || leaves(s); }
};

}  // namespace uncore
