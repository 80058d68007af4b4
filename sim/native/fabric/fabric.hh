// The fabric: stops joined by links, routes of least control latency, channels with bandwidth.
//
// A route is compiled once into hops. Links without a channel have no limit, so a message only
// stops (costs an event) where it meets a channel: the hop says how long the head takes to get
// there, and how long the message keeps the channel. The message is whole at its destination when
// its head is there and the slowest channel of its route has let it pass (rule F3).
//
// Invariant: among routes of equal latency the one of fewest links is taken, and among those each
// stop takes the lowest-numbered link: the numbering of links is the tie-break.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/spec.hh"

namespace uncore {

enum class Size : uint8_t { control, data, snoop };  // the cost kinds of machine.Link

using Costs = std::array<Time, 3>;  // by Size

// A part of a route: `reach` from the channel before (or the source) to this one, then `busy`. The
// last leg of a route has no channel: its `reach` ends at the destination, and its `busy` is that
// of the slowest channel. What a message of one size needs stands together.
struct Leg {
  static constexpr int32_t kArrival = -1;
  struct Cost {
    Time reach = 0, busy = 0;
  };
  std::array<Cost, 3> of;  // by Size
  int32_t channel = kArrival;

  const Cost& operator[](Size size) const { return of[static_cast<std::size_t>(size)]; }
};

using Route = const Leg*;  // its first leg

struct Channel {
  Time free = 0;  // when the last message that took it has passed
  Time used = 0;  // summed busy time
};

class Fabric {
 public:
  Fabric(uint32_t stops, const std::vector<LinkSpec>& links);

  Route route(int32_t source, int32_t target) {
    const std::vector<Route>& known = known_[source];
    return !known.empty() && known[target] ? known[target] : learn(source, target);
  }
  // Latency of a message alone on its way.
  Time latency(int32_t source, int32_t target, Size size);
  // A lower bound on the latency of any message to `target` from a stop marked in `sources`.
  Time nearest(const std::vector<bool>& sources, int32_t target) const;

  std::vector<Channel> channels;

 private:
  template <class Weight, class Enough>
  std::vector<Time> distances(int32_t target, Weight weight, Enough enough) const;
  const std::vector<int32_t>& toward(int32_t target);  // next link of every stop
  std::vector<Leg> compile(int32_t source, int32_t target);
  Route learn(int32_t source, int32_t target);

  std::vector<LinkSpec> links_;
  std::vector<std::vector<int32_t>> leaving_, entering_;  // link numbers by stop, ascending
  std::vector<std::vector<int32_t>> toward_;              // by target, made when first asked for
  std::vector<std::vector<Route>> known_;                 // by source, target
  std::vector<std::vector<Leg>> routes_;
};

}  // namespace uncore
