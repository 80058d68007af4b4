// Properties of the client's states, which rules and engines ask for without an event.
//
//   protocol.may_store(state), protocol.is_dirty(state), ...
//
// Each property follows from the cells of the state's row in client.table (protocol.cc). Invariant:
// no code lists states; the one state that code names is I, in which every line begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uncore {

// A state's position in client.table.
enum class State : uint8_t { I };
enum class ClientEvent : uint8_t;
inline constexpr std::size_t kMostStates = 32;

class StateSet {
 public:
  bool operator()(State s) const { return bits_ >> static_cast<unsigned>(s) & 1; }
  void set(State s, bool in) { bits_ |= uint64_t{in} << static_cast<unsigned>(s); }

 private:
  uint64_t bits_ = 0;
};

struct StateProperties {
  StateSet may_load;    // a load needs no request to the level above
  StateSet may_store;   // a store needs none either: nobody else has a copy
  StateSet is_written;  // a store does not change the state
  StateSet is_dirty;    // its data differ from the level above, or are to be handed over as such
  StateSet holds_copy;  // the line's data are here
  StateSet waits_for_grant;  // a request is under way
  StateSet waits_to_read;    // a request for a read is under way
  StateSet leaves;           // a writeback is under way
  StateSet may_evict;        // there is a copy, and nothing under way
  StateSet is_owner;         // asked for the line, it hands the data over
  StateSet forwards;         // hands clean data to a reader, though others have them too (F)

  State full_right{};      // the right of a root, and of a granted write (M)
  State shared_right{};    // the right granted to a reader among others (S)
  State passed_right{};    // the right of a reader to whom the owner passes the line (R12)
  bool has_stays = false;  // the client table has the event Stays
  std::vector<std::string> names;

  const std::string& name(State s) const { return names[static_cast<std::size_t>(s)]; }
  std::string name(ClientEvent e) const;
  bool transient(State s) const { return waits_for_grant(s) || leaves(s); }
};

}  // namespace uncore
