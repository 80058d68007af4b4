// The parameters of a hart of this folder: its number, and what its parts cost, in ps.
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
  Time forward;        // cost of a load that the store buffer answers
  Time lr;             // time that an LR takes beyond its load
  Time amo;            // time that an AMO takes beyond its two accesses
  Time send;           // time for which an interrupt occupies its sender
  Time accept;         // from an interrupt's arrival until it is pending
  Time entry, exit;    // cost of an interrupt's trap
  Time watchdog;       // longest time of an operation before the run is given up
};

// Reads the parameters: find(name) gives the value of one.
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
