// The fabric: stops joined by links, routes of least control latency, channels with bandwidth.
//
// A route is compiled once into legs. Links without a channel have unlimited bandwidth, so a
// message needs an event only at each channel. A leg holds the time that the message's head takes
// to reach the next channel, and the time for which the message occupies that channel. The message
// has arrived when its head is at the destination and its tail has followed, which takes the
// occupancy of the slowest channel on the route (F3).
//
// Invariant: among routes of equal latency one with the fewest links is taken; if several links
// remain at a stop, the lowest-numbered one. If routes are hashed, each message about a line has a
// number, its choice (called the way in F1.1), whose digits select one of the remaining links
// instead.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "spec/link_spec.hh"
#include "time/chance.hh"

namespace uncore {

enum class Size : uint8_t { control, data, snoop };  // message sizes, for which a Link has costs

using Costs = std::array<Time, 3>;  // a cost for each Size

// A part of a route, from one channel (or the source) to the next channel (or the target). How a
// route continues after a given link does not depend on its source, so routes share legs. A leg is
// one cache line of the host, and the legs of a whole machine fit the host's caches.
struct alignas(64) Leg {
  static constexpr int32_t kNone = -1;
  struct Cost {
    Time reach = 0;  // time until the head reaches the channel, or the target
    Time busy = 0;   // time for which the message occupies the channel
  };
  std::array<Cost, 3> costs;  // a cost for each Size
  int32_t channel = kNone;    // kNone: the leg ends at the target
  int32_t link = kNone;       // the channel's link
  const Leg* next = nullptr;  // the following leg of the route

  const Cost& operator[](Size size) const { return costs[static_cast<std::size_t>(size)]; }
};

// The state of a channel, in one cache line of the host.
struct alignas(64) Channel {
  Time free_at = 0;                 // when the tail of the last message leaves the channel
  Time used = 0;                    // total busy time
  std::array<uint64_t, 3> taken{};  // number of messages that took it, by Size
};

class Fabric {
 public:
  // `hashed`: messages are spread over routes of equal latency by a hash of their line.
  Fabric(uint32_t stops, const std::vector<LinkSpec>& links, bool hashed = false);

  // Returns the first leg of the route between two stops.
  const Leg* route(int32_t source, int32_t target) {
    const Leg** routes = routes_[source].get();
    return routes && routes[target] ? routes[target] : make_route(source, target);
  }
  // Returns the first leg of the route of a message about a line. `line` is AddressMap::ordinal().
  const Leg* route(int32_t source, int32_t target, uint64_t line) {
    return hashed_ ? route_of_line(source, target, line) : route(source, target);
  }
  // Returns the links of the route of a message about a line.
  std::vector<int32_t> path(int32_t source, int32_t target, uint64_t line);
  // Returns the leg that follows a link with a channel.
  const Leg* leg_after(int32_t link, int32_t target, uint32_t choice = 0);
  // Returns the latency of a message on an otherwise idle fabric.
  Time latency(int32_t source, int32_t target, Size size);
  // Returns for each stop a lower bound on the latency of any path from there to `target`; kNever
  // if there is no path.
  std::vector<Time> least_latencies(int32_t target) const;

  std::vector<Channel> channels;

 private:
  template <class Weight>
  std::vector<Time> distances(int32_t target, Weight weight) const;
  int32_t next(int32_t stop, int32_t target, uint32_t& choice);
  [[gnu::noinline]] const Leg* make_route(int32_t source, int32_t target);
  [[gnu::noinline]] const Leg* route_of_line(int32_t source, int32_t target, uint64_t line);
  const Leg* make(int32_t stop, int32_t target, const Costs& before, uint32_t choice);

  // Returns the number that selects a message's route (F1.1); 0 if routes are not hashed.
  uint32_t route_choice(int32_t source, int32_t target, uint64_t line) const {
    const auto from = static_cast<uint64_t>(source), to = static_cast<uint64_t>(target);
    return hashed_ ? splitmix(splitmix(splitmix(line) + from) + to) % kChoices : 0;
  }

  static constexpr uint32_t kChoices = 64;

  const bool hashed_;
  std::vector<LinkSpec> links_;
  std::vector<std::vector<int32_t>> leaving_, entering_;  // stop -> numbers of links, ascending
  std::vector<std::vector<Time>> distances_;  // distances_[target][stop]: distance, or empty
  std::vector<std::unique_ptr<const Leg*[]>> routes_;  // routes_[source][target]
  std::unordered_map<uint64_t, const Leg*>
      routes_by_choice_;  // (source, target, choice) -> first leg
  std::map<std::tuple<int32_t, int32_t, uint32_t>, const Leg*> legs_after_;  // link, target, choice
  std::deque<Leg> legs_;  // addresses do not change
};

}  // namespace uncore
