#include "fabric/fabric.hh"

#include <algorithm>
#include <functional>
#include <queue>
#include <stdexcept>
#include <utility>

namespace uncore {
namespace {

Costs latency_of(const LinkSpec& link) { return {link.control, link.data, link.snoop}; }

// Returns the weight of a link. Routes are compared by the sum of their weights, which means first
// by control latency, then by number of links. A link without latency has weight 1, so that no
// route contains a cycle.
Time weight(const LinkSpec& link) { return (link.control << 12) + 1; }

}  // namespace

Fabric::Fabric(uint32_t stops, const std::vector<LinkSpec>& links, bool hashed)
    : hashed_(hashed),
      links_(links),
      leaving_(stops),
      entering_(stops),
      distances_(stops),
      routes_(stops) {
  int32_t last = -1;
  for (std::size_t l = 0; l < links.size(); ++l) {
    leaving_[links[l].source].push_back(static_cast<int32_t>(l));
    entering_[links[l].target].push_back(static_cast<int32_t>(l));
    last = std::max(last, links[l].channel);
  }
  channels.resize(static_cast<std::size_t>(last + 1));
}

// Returns for every stop the least summed weight of a path from there to the target, by Dijkstra's
// algorithm. It starts at the target and follows links backwards.
template <class Weight>
std::vector<Time> Fabric::distances(int32_t target, Weight weight) const {
  std::vector<Time> distance(leaving_.size(), kNever);
  using Reached = std::pair<Time, int32_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> pending;
  distance[target] = 0;
  pending.emplace(0, target);
  while (!pending.empty()) {
    const auto [far, stop] = pending.top();
    pending.pop();
    if (far > distance[stop]) continue;
    for (int32_t l : entering_[stop]) {
      const Time through = far + weight(links_[l]);
      if (through >= distance[links_[l].source]) continue;
      distance[links_[l].source] = through;
      pending.emplace(through, links_[l].source);
    }
  }
  return distance;
}

// Returns the link that a route takes from `stop`. If n links are on shortest paths, `choice`
// modulo n selects one of them, and `choice` is divided by n. If only one link leads to the target,
// as to a core's stop, distances are computed to the stop at which that link begins, because many
// targets share that stop.
int32_t Fabric::next(int32_t stop, int32_t target, uint32_t& choice) {
  const std::vector<int32_t>& incoming = entering_[target];
  const int32_t start = incoming.size() == 1 ? links_[incoming[0]].source : target;
  if (stop == start) return incoming[0];
  std::vector<Time>& distances_to_start = distances_[start];
  if (distances_to_start.empty()) distances_to_start = distances(start, weight);
  std::vector<int32_t> equal;
  for (int32_t l : leaving_[stop]) {
    const Time beyond = distances_to_start[links_[l].target];
    if (beyond != kNever && beyond + weight(links_[l]) == distances_to_start[stop])
      equal.push_back(l);
  }
  if (equal.empty()) throw std::logic_error("fabric: a stop cannot reach another");
  const auto base = static_cast<uint32_t>(equal.size());
  const uint32_t digit = choice % base;
  choice /= base;
  return equal[digit];
}

std::vector<int32_t> Fabric::path(int32_t source, int32_t target, uint64_t line) {
  std::vector<int32_t> links;
  for (uint32_t digits = route_choice(source, target, line); source != target;) {
    links.push_back(next(source, target, digits));
    source = links_[links.back()].target;
  }
  return links;
}

// Makes the leg of a route that starts at `stop`, and all legs after it. `before` is the latency of
// the link that leads to `stop`, whose channel the message has just taken; the leg includes it.
const Leg* Fabric::make(int32_t stop, int32_t target, const Costs& before, uint32_t choice) {
  Leg leg;
  const auto pass = [&leg](const Costs& latency) {
    for (std::size_t s = 0; s < latency.size(); ++s) leg.costs[s].reach += latency[s];
  };
  pass(before);
  while (stop != target) {
    const int32_t l = next(stop, target, choice);
    const LinkSpec& link = links_[l];
    if (link.channel >= 0) {
      const Costs busy{link.control_busy, link.data_busy, link.snoop_busy};
      for (std::size_t s = 0; s < busy.size(); ++s) leg.costs[s].busy = busy[s];
      leg.channel = link.channel;
      leg.link = l;
      leg.next = leg_after(l, target, choice);
      break;
    }
    pass(latency_of(link));
    stop = link.target;
  }
  return &legs_.emplace_back(leg);
}

const Leg* Fabric::leg_after(int32_t link, int32_t target, uint32_t choice) {
  const std::tuple key(link, target, choice);
  const auto match = legs_after_.find(key);
  if (match != legs_after_.end()) return match->second;
  const Leg* leg = make(links_[link].target, target, latency_of(links_[link]), choice);
  legs_after_.emplace(key, leg);
  return leg;
}

const Leg* Fabric::make_route(int32_t source, int32_t target) {
  std::unique_ptr<const Leg*[]>& routes = routes_[source];
  if (!routes) routes = std::make_unique<const Leg*[]>(leaving_.size());
  return routes[target] = make(source, target, {}, 0);
}

const Leg* Fabric::route_of_line(int32_t source, int32_t target, uint64_t line) {
  const uint64_t pair = static_cast<uint64_t>(source) * leaving_.size() + target;
  const uint32_t digits = route_choice(source, target, line);
  const Leg*& leg = routes_by_choice_[pair * kChoices + digits];
  if (!leg) leg = make(source, target, {}, digits);
  return leg;
}

Time Fabric::latency(int32_t source, int32_t target, Size size) {
  Time total = 0, tail = 0;
  for (const Leg* leg = route(source, target); leg; leg = leg->next) {
    total += (*leg)[size].reach;
    tail = std::max(tail, (*leg)[size].busy);
  }
  return total + tail;
}

std::vector<Time> Fabric::least_latencies(int32_t target) const {
  return distances(
      target, [](const LinkSpec& link) { return std::min({link.control, link.data, link.snoop}); });
}

}  // namespace uncore
