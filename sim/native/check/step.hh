// The steps of a machine that is being checked, and violations of its invariants.
#pragma once

#include <string>

#include "coherence/protocol.hh"

namespace uncore::check {

struct Violation {
  std::string what;
};

struct Step {
  enum class What : uint8_t { deliver, memory, load, store, amo, evict, evict_data, recall };
  What what;
  int index = 0;  // index of the message, or number of the core or resolver
  int word = 0;   // for a store: the word of the line
  int line = 0;   // in a machine with two lines (two_lines.hh): the line

  // Returns whether the step advances a transaction under way. Any other step begins a new one.
  bool progress() const { return what <= What::memory; }
  // Returns whether the step is an access or an eviction by a core. If so, event() is its event in
  // client.table.
  bool of_core() const { return what >= What::load && what <= What::evict; }
  ClientEvent event() const {
    return what == What::load    ? ClientEvent::Load
           : what == What::store ? ClientEvent::Store
           : what == What::amo   ? ClientEvent::Amo
                                 : ClientEvent::Evict;
  }
};

}  // namespace uncore::check
