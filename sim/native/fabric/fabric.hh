// The fabric: stops joined by links, routes of least control latency, channels with bandwidth.
//
// A route is compiled once into legs. Links without a channel have no limit, so a message only
// stops (costs an event) where it meets a channel: the leg has the time that the head takes to get
// there, and the time that the message keeps the channel. The message has arrived when its head is
// at the destination and the slowest channel of its route has let it pass (rule F3).
//
// Invariant: among routes of equal latency one of fewest links is taken, and among those each stop
// takes the lowest-numbered link: the numbering of links is the tie-break. If routes are hashed, a
// message about a line has a number, its choice (F1.1 says: its way), whose digits choose among
// those links instead.
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

enum class Size : uint8_t { control, data, snoop };  // the cost kinds of machine.Link

using Costs = std::array<Time, 3>;  // a cost for each Size

// A part of a route: from one channel (or the source) to the next, or to the target. After a link a
// route does not depend on where it began, so routes share their legs: a machine's routes then stay
// in the host's caches, with one line for each leg.
struct alignas(64) Leg {
  static constexpr int32_t kNone = -1;
  struct Cost {
    Time reach = 0;  // until the head reaches the channel, or the target
    Time busy = 0;   // for which the message keeps the channel
  };
  std::array<Cost, 3> of;     // a cost for each Size
  int32_t channel = kNone;    // kNone: the leg ends at the target
  int32_t link = kNone;       // the channel's link
  const Leg* next = nullptr;  // the following leg of the route

  const Cost& operator[](Size size) const { return of[static_cast<std::size_t>(size)]; }
};

// A channel, in one cache line of the host.
struct alignas(64) Channel {
  Time free_at = 0;                 // when the last message on the channel has passed
  Time used = 0;                    // summed busy time
  std::array<uint64_t, 3> taken{};  // number of messages that took it, by Size
};

class Fabric {
 public:
  // `hashed`: lines are spread over equal routes.
  Fabric(uint32_t stops, const std::vector<LinkSpec>& links, bool hashed = false);

  // The first leg of the route.
  const Leg* route(int32_t source, int32_t target) {
    const Leg** routes = routes_[source].get();
    return routes && routes[target] ? routes[target] : learn(source, target);
  }
  // The first leg of the route of a message about a line; `line`: its number (AddressMap::ordinal).
  const Leg* route(int32_t source, int32_t target, uint64_t line) {
    return hashed_ ? route_of_line(source, target, line) : route(source, target);
  }
  // The links of that route.
  std::vector<int32_t> path(int32_t source, int32_t target, uint64_t line);
  // The leg that follows a link with a channel.
  const Leg* beyond(int32_t link, int32_t target, uint32_t choice = 0);
  // Latency of a message that nothing delays.
  Time latency(int32_t source, int32_t target, Size size);
  // For each stop a lower bound on the latency of any path from there to `target`; kNever: there is
  // none.
  std::vector<Time> least_latencies(int32_t target) const;

  std::vector<Channel> channels;

 private:
  template <class Weight>
  std::vector<Time> distances(int32_t target, Weight weight) const;
  int32_t next(int32_t stop, int32_t target, uint32_t& choice);
  [[gnu::noinline]] const Leg* learn(int32_t source, int32_t target);
  [[gnu::noinline]] const Leg* route_of_line(int32_t source, int32_t target, uint64_t line);
  const Leg* make(int32_t stop, int32_t target, const Costs& behind, uint32_t choice);

  // The number that chooses a message's route (F1.1); 0 if routes are not hashed.
  uint32_t route_choice(int32_t source, int32_t target, uint64_t line) const {
    const auto from = static_cast<uint64_t>(source), to = static_cast<uint64_t>(target);
    return hashed_ ? splitmix(splitmix(splitmix(line) + from) + to) % kChoices : 0;
  }

  static constexpr uint32_t kChoices = 64;

  const bool hashed_;
  std::vector<LinkSpec> links_;
  std::vector<std::vector<int32_t>> leaving_, entering_;  // stop -> numbers of links, ascending
  std::vector<std::vector<Time>> far_;                    // far_[target][stop]; made when needed
  std::vector<std::unique_ptr<const Leg*[]>> routes_;     // routes_[source][target]
  std::unordered_map<uint64_t, const Leg*>
      routes_by_choice_;  // (source, target, choice) -> first leg
  std::map<std::tuple<int32_t, int32_t, uint32_t>, const Leg*> beyond_;  // link, target, choice
  std::deque<Leg> legs_;                                                 // addresses do not change
};

}  // namespace uncore
