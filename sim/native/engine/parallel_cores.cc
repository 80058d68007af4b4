#include "engine/parallel_cores.hh"

#include <algorithm>

namespace uncore {
namespace {

// Shares but the largest save less than it takes to call threads where they have fewer cores that
// can execute, or executed fewer times; then events pass before the next try, at most so many.
constexpr uint64_t kSeveral = 4, kWorth = 8, kLongestPause = 64;
// The same where it is known beforehand.
constexpr uint64_t kLongestRest = 4096;
// Calls for which cores stay in their shares.
constexpr uint64_t kSameShares = 64;

}  // namespace

ParallelCores::ParallelCores(const std::vector<std::unique_ptr<Core>>& cores, EventQueue& queue,
                             Host host)
    : cores_(cores),
      queue_(queue),
      threads_(std::min(host.threads, host.shares), host.shares),
      shares_(host.shares),
      stuck_at_(cores.size(), kNever),
      eager_(host.eager) {
  deal();
}

// ---- who executes which cores

// Deals out the cores that execute now, as many to each share, in their order. A share ends where
// the next core is far away, if such a place is near.
void ParallelCores::deal() {
  std::vector<uint32_t> active;
  for (uint32_t c = 0; c < cores_.size(); ++c)
    if (queue_.scheduled(c) != kNever) active.push_back(c);
  const std::size_t count = shares_.size(), slack = active.size() / (16 * count);
  uint32_t first = 0;
  for (std::size_t s = 1; s <= count; ++s) {
    const std::size_t at = gap(active, s * active.size() / count, slack);
    const bool last = s == count || at >= active.size();
    const uint32_t end = last ? static_cast<uint32_t>(cores_.size()) : active[at];
    std::vector<uint32_t>& of_share = shares_[s - 1].cores;
    of_share.clear();
    for (; first < end; ++first)
      if (!cores_[first]->threads.empty()) of_share.push_back(first);
    shares_[s - 1].horizons.resize(of_share.size());
  }
  apart_ = distance();
  same_shares_ = kSameShares;
}

// Where two neighbours are farthest from each other, at `ideal` or not far from there.
std::size_t ParallelCores::gap(const std::vector<uint32_t>& active, std::size_t ideal,
                               std::size_t slack) const {
  const auto width = [&](std::size_t at) {
    const bool inside = at > 0 && at < active.size();
    return inside ? cores_[active[at]]->turns.distance(*cores_[active[at - 1]]) : 0;
  };
  std::size_t best = ideal;
  for (std::size_t by = 1; by <= slack; ++by)
    for (const std::size_t at : {ideal - by, ideal + by})
      if (width(at) > width(best)) best = at;
  return best;
}

Time ParallelCores::distance() const {
  Time least = kNever;
  for (const Share& share : shares_)
    for (const Share& other : shares_) {
      if (&share == &other) continue;
      for (const uint32_t a : share.cores)
        for (const uint32_t b : other.cores)
          least = std::min(least, cores_[a]->turns.distance(*cores_[b]));
    }
  return least;
}

// Are there cores enough that begin by then, beside those of the share that has most? If not so
// because the cores that execute are others by now, they are dealt out anew.
bool ParallelCores::several_go(Time until) {
  uint64_t all = 0, most = 0, active = 0, most_active = 0;
  for (const Share& share : shares_) {
    uint64_t go = 0, execute = 0;
    for (const uint32_t c : share.cores) {
      const Time at = queue_.scheduled(c);
      execute += at != kNever;
      go += at <= until && at != stuck_at_[c];
    }
    all += go;
    active += execute;
    most = std::max(most, go);
    most_active = std::max(most_active, execute);
  }
  if (same_shares_ > 0) --same_shares_;
  const bool even = (most_active - 1) * shares_.size() <= active + active / 16;
  if (!even && same_shares_ == 0 && active >= kSeveral * shares_.size()) return deal(), true;
  return all - most >= kSeveral;
}

// ---- execution

uint64_t ParallelCores::advance(Time until) {
  const Time now = queue_.next_run();
  // No share gets ahead of what another may do, so that all begin together next time, too.
  until = std::min(until, later(now, apart_ - 1));
  if (!eager_ && !several_go(later(until, apart_))) {
    rest_ = pause_ = std::min(2 * pause_, kLongestRest);
    return 0;
  }
  threads_.together([&](unsigned share) { execute(shares_[share], now, until); });
  return collect();
}

// Tells the engine how far the cores have come. Returns how often one has run.
uint64_t ParallelCores::collect() {
  uint64_t runs = 0, most_runs = 0, instructions = 0, most = 0;
  for (const Share& share : shares_) {
    for (const uint32_t c : share.cores) queue_.schedule(c, share.all.at(c));
    runs += share.runs;
    instructions += share.instructions;
    most_runs = std::max(most_runs, share.runs);
    most = std::max(most, share.instructions);
  }
  ++worth_.calls;
  worth_.instructions += instructions;
  worth_.longest += most;
  const bool paid = eager_ || runs - most_runs >= kWorth;
  pause_ = paid ? 1 : std::min(2 * pause_, kLongestPause);
  rest_ = paid ? 0 : pause_;
  return runs;
}

void ParallelCores::execute(Share& share, Time now, Time until) {
  share.all = queue_.runs();
  share.runs = share.instructions = 0;
  for (std::size_t i = 0; i < share.cores.size(); ++i) {
    const uint32_t c = share.cores[i];
    const bool goes = share.all.at(c) <= until && !is_stuck(c);
    share.horizons[i] = goes ? std::min(until, cores_[c]->turns.horizon_alone(now)) : 0;
  }
  while (sweep(share, until)) {
  }
}

// Executes each core once, as far as it can. False: none can.
bool ParallelCores::sweep(Share& share, Time until) {
  const uint64_t before = share.runs;
  for (std::size_t i = 0; i < share.cores.size(); ++i) {
    const uint32_t c = share.cores[i];
    const Time at = share.all.at(c);
    if (at > share.horizons[i] || at > until || at == stuck_at_[c]) continue;
    Core& core = *cores_[c];
    const Time horizon = std::min(share.horizons[i], core.turns.horizon_beside(share.all));
    if (at > horizon) continue;
    const uint64_t done = core.instructions();
    const bool stays = core.run_confined(horizon);
    ++share.runs;
    share.instructions += core.instructions() - done;
    share.all.set(c, core.turns.next_time());
    if (!stays) stuck_at_[c] = share.all.at(c);
  }
  return share.runs > before;
}

}  // namespace uncore
