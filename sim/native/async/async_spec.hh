// The parameters of a hart of this folder: its number and sizes, and the times of its parts in ps.
//
// Interface: read_async_spec() reads the parameters that engine/sst/parameters.py writes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hart/state.hh"
#include "time/time.hh"

namespace uncore {

struct AsyncSpec {
  uint32_t id, harts;
  uint64_t ram;  // size of RAM, in bytes from kRamBase on
  Cost cost;
  std::size_t stores;  // entries of the store buffer
  Time forward;        // cost of a load that the store buffer answers
  Time lr;             // time that an LR takes beyond its load
  Time amo;            // time that an AMO takes beyond its two accesses
  Time send;           // time for which an interrupt occupies its sender
  Time accept;         // time from an interrupt's arrival until it is pending
  Time entry, exit;    // time to enter an interrupt handler, and to return from it
  Time watchdog;       // an operation that takes longer ends the run
};

// Reads the parameters. find(name) returns the value of one.
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
