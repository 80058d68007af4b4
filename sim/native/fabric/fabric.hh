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
#include <deque>
#include <vector>

#include "engine/spec.hh"

namespace uncore {

enum class Size : uint8_t { control, data, snoop };  // the cost kinds of machine.Link

using Costs = std::array<Time, 3>;  // by Size

// One channel on a route: `reach` from the previous channel (or the source), then `busy`.
struct Hop {
  Costs reach;
  Costs busy;
  int32_t channel;
};

struct Route {
  std::vector<Hop> hops;
  Costs rest{};  // from the last channel (or the source) to the destination
  Costs tail{};  // the slowest channel's busy time
};

struct Channel {
  Time free = 0;  // when the last message that took it has passed
  Time used = 0;  // summed busy time
};

class Fabric {
 public:
  Fabric(uint32_t stops, const std::vector<LinkSpec>& links);

  const Route& route(int32_t source, int32_t target) {
    const std::vector<const Route*>& known = known_[source];
    return !known.empty() && known[target] ? *known[target] : learn(source, target);
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
  Route compile(int32_t source, int32_t target);
  const Route& learn(int32_t source, int32_t target);

  std::vector<LinkSpec> links_;
  std::vector<std::vector<int32_t>> leaving_, entering_;  // link numbers by stop, ascending
  std::vector<std::vector<int32_t>> toward_;              // by target, made when first asked for
  std::vector<std::vector<const Route*>> known_;          // by source, target
  std::deque<Route> routes_;                              // addresses stay
};

}  // namespace uncore
