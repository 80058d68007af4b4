// What a hart here is: its number, and what its parts cost, in ps.
//
// Interface: read_async_spec(), from the parameters of engine/sst/parameters.py.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hart/state.hh"
#include "time/time.hh"

namespace uncore {

struct AsyncSpec {
  uint32_t id, harts;
  uint64_t ram;  // bytes from kRamBase
  Cost cost;
  std::size_t stores;  // entries of the store buffer
  Time forward;        // of a load that the store buffer answers
  Time lr;             // more than its load took
  Time amo;            // more than its two accesses took
  Time send;           // an interrupt occupies its sender
  Time accept;         // from its arrival until it is pending
  Time entry, exit;    // of an interrupt's trap
  Time watchdog;       // without an operation
};

// `find(name)` gives the value of a parameter.
template <class Find>
AsyncSpec read_async_spec(Find find) {
  return {
      .id = static_cast<uint32_t>(find("id")),
      .harts = static_cast<uint32_t>(find("harts")),
      .ram = find("ram"),
      .cost = {find("instruction"), find("mispredict"), find("pause")},
      .stores = find("stores"),
      .forward = find("forward"),
      .lr = find("lr"),
      .amo = find("amo"),
      .send = find("send"),
      .accept = find("accept"),
      .entry = find("entry"),
      .exit = find("exit"),
      .watchdog = find("watchdog"),
  };
}

}  // namespace uncore
