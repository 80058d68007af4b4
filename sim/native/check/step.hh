// What may happen next in a machine that is walked, and what must not.
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
  int at = 0;    // the message, core or resolver
  int word = 0;  // of the line, of a store
  int line = 0;  // of two_lines.hh

  // Work under way goes on; the other steps begin some.
  bool progress() const { return what <= What::memory; }
  // A core does something; it wishes for a right to its line.
  bool of_core() const { return what >= What::load && what <= What::evict; }
  ClientEvent wish() const {
    return what == What::load    ? ClientEvent::Load
           : what == What::store ? ClientEvent::Store
           : what == What::amo   ? ClientEvent::Amo
                                 : ClientEvent::Evict;
  }
};

}  // namespace uncore::check
