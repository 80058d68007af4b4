#include "engine/parallel_cores.hh"

#include <algorithm>

namespace uncore {
namespace {

// Waking host threads pays only if at least kMinOtherCores cores outside the largest share can
// execute. If fewer can, a number of events passes before the next try: twice as many each time, at
// most kMaxIdleBackoff.
constexpr uint64_t kMinOtherCores = 4, kMaxIdleBackoff = 4096;
// A call has not paid if the shares other than the largest executed fewer than
// kMinOtherInstructions instructions, which take one or two microseconds of host time. Then at most
// kMaxPoorBackoff events pass before the next try.
constexpr uint64_t kMinOtherInstructions = 500, kMaxPoorBackoff = 32;
// Number of tries before cores may be distributed among the shares again.
constexpr uint64_t kTriesPerDeal = 64;
// Number of times that a share polls for the progress of other shares before it gives up, which
// takes some microseconds. It gives up because the host may not be running their threads.
constexpr int kMaxSharePolls = 200;

}  // namespace

ParallelCores::ParallelCores(const std::vector<std::unique_ptr<Core>>& cores, EventQueue& queue,
                             HostUse host)
    : cores_(cores),
      queue_(queue),
      one_thread_(host.threads < 2),
      threads_(std::min(host.threads, host.shares), host.shares),
      shares_(host.shares),
      stuck_at_(cores.size(), kNever),
      eager_(host.eager) {
  deal();
}

// ---- distribution of cores among shares

// Divides the scheduled cores evenly among the shares, in the order of their numbers. Then it moves
// each border between two shares to a pair of neighbours nearby whose distance is largest.
void ParallelCores::deal() {
  std::vector<uint32_t> active;
  for (uint32_t c = 0; c < cores_.size(); ++c)
    if (queue_.scheduled(c) != kNever) active.push_back(c);
  const std::size_t count = shares_.size(), slack = active.size() / (16 * count);
  uint32_t first = 0;
  for (std::size_t s = 1; s <= count; ++s) {
    const std::size_t border = gap(active, s * active.size() / count, slack);
    const bool last = s == count || border >= active.size();
    const uint32_t end = last ? static_cast<uint32_t>(cores_.size()) : active[border];
    std::vector<uint32_t>& share_cores = shares_[s - 1].cores;
    share_cores.clear();
    for (; first < end; ++first)
      if (!cores_[first]->threads.empty()) share_cores.push_back(first);
    shares_[s - 1].horizons.resize(share_cores.size());
    shares_[s - 1].next = Runs(cores_.size());
  }
  share_distance_ = distance();
  tries_before_deal_ = kTriesPerDeal;
}

// Returns the index in `active`, at most `slack` away from `ideal`, whose core is farthest from the
// core before it.
std::size_t ParallelCores::gap(const std::vector<uint32_t>& active, std::size_t ideal,
                               std::size_t slack) const {
  const auto width = [&](std::size_t index) {
    const bool inside = index > 0 && index < active.size();
    return inside ? cores_[active[index]]->turns.distance(*cores_[active[index - 1]]) : 0;
  };
  std::size_t best = ideal;
  for (std::size_t offset = 1; offset <= slack; ++offset)
    for (const std::size_t candidate : {ideal - offset, ideal + offset})
      if (width(candidate) > width(best)) best = candidate;
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

// Returns true if at least kMinOtherCores cores outside the fullest share can begin by `until`. If
// the scheduled cores have become unevenly distributed, distributes them again and returns true.
bool ParallelCores::enough_can_run(Time until) {
  uint64_t all = 0, most = 0, active = 0, most_active = 0;
  for (const Share& share : shares_) {
    uint64_t go = 0, execute = 0;
    for (const uint32_t c : share.cores) {
      const Time scheduled = queue_.scheduled(c);
      execute += scheduled != kNever;
      go += scheduled <= until && scheduled != stuck_at_[c];
    }
    all += go;
    active += execute;
    most = std::max(most, go);
    most_active = std::max(most_active, execute);
  }
  if (tries_before_deal_ > 0) --tries_before_deal_;
  const bool even = (most_active - 1) * shares_.size() <= active + active / 16;
  if (!even && tries_before_deal_ == 0 && active >= kMinOtherCores * shares_.size())
    return deal(), true;
  return all - most >= kMinOtherCores;
}

// ---- execution

uint64_t ParallelCores::advance(Time until) {
  const Time now = queue_.next_run();
  if (!eager_ && !enough_can_run(later(now, 2 * share_distance_))) {
    events_to_skip_ = last_backoff_ = std::min(2 * last_backoff_, kMaxIdleBackoff);
    return 0;
  }
  if (one_thread_)
    // Other shares do not advance meanwhile.
    until = std::min(until, later(now, share_distance_ - 1));
  begin();
  threads_.run_shares([&](unsigned share) { execute(shares_[share], now, until); });
  return collect();
}

void ParallelCores::begin() {
  for (Share& share : shares_) {
    for (const uint32_t c : share.cores) share.next.set(c, queue_.scheduled(c));
    share.runs = share.instructions = 0;
    share.reached.store(share.next.next_time(), std::memory_order_relaxed);
    share.over.store(false, std::memory_order_relaxed);
  }
}

// Reschedules the cores in the engine's queue. If this call of advance() executed too few
// instructions in parallel, some events pass before the next one: twice as many as last time, at
// most kMaxPoorBackoff. Returns the number of runs of cores.
uint64_t ParallelCores::collect() {
  uint64_t runs = 0, instructions = 0, most = 0;
  for (const Share& share : shares_) {
    for (const uint32_t c : share.cores) queue_.schedule(c, share.next.at(c));
    runs += share.runs;
    instructions += share.instructions;
    most = std::max(most, share.instructions);
  }
  ++worth_.calls;
  worth_.instructions += instructions;
  worth_.longest += most;
  const bool paid = eager_ || instructions - most >= kMinOtherInstructions;
  last_backoff_ = paid ? 1 : std::min(2 * last_backoff_, kMaxPoorBackoff);
  events_to_skip_ = paid ? 0 : last_backoff_;
  return runs;
}

void ParallelCores::execute(Share& share, Time now, Time until) {
  for (std::size_t i = 0; i < share.cores.size(); ++i) {
    const uint32_t c = share.cores[i];
    const bool goes = share.next.at(c) <= until && !is_stuck(c);
    share.horizons[i] = goes ? std::min(until, cores_[c]->turns.horizon_alone(now)) : 0;
  }
  for (;;) {
    const Time reached = others_reached(share);
    const Sweep result = sweep(share, later(reached, share_distance_) - 1);
    if (result == Sweep::ran)
      share.reached.store(share.next.next_time(), std::memory_order_release);
    else if (result == Sweep::ends || !others_have_passed(share, reached))
      break;
  }
  share.over.store(true, std::memory_order_release);
}

// Executes each core of the share once, as far as it can, but not past the time `others`, up to
// which no other share can affect this one.
ParallelCores::Sweep ParallelCores::sweep(Share& share, Time others) {
  Sweep result = Sweep::ends;
  for (std::size_t i = 0; i < share.cores.size(); ++i) {
    const uint32_t c = share.cores[i];
    const Time scheduled = share.next.at(c);
    if (scheduled > share.horizons[i] || scheduled == kNever || scheduled == stuck_at_[c]) continue;
    Core& core = *cores_[c];
    const Time horizon = std::min(share.horizons[i], core.turns.horizon_alongside(share.next));
    if (scheduled > horizon) continue;
    if (scheduled > others) {
      if (result == Sweep::ends) result = Sweep::waits;
      continue;
    }
    const uint64_t instructions_before = core.instructions();
    const bool stays = core.run_confined(std::min(horizon, others));
    ++share.runs;
    share.instructions += core.instructions() - instructions_before;
    share.next.set(c, core.turns.next_time());
    if (!stays) stuck_at_[c] = share.next.at(c);
    result = Sweep::ran;
  }
  return result;
}

Time ParallelCores::others_reached(const Share& share) const {
  Time least = kNever;
  for (const Share& other : shares_)
    if (&other != &share) least = std::min(least, other.reached.load(std::memory_order_acquire));
  return least;
}

// Waits until all other shares have passed the time `reached`. Returns false after kMaxSharePolls
// polls, or if a share has finished this call without passing that time.
bool ParallelCores::others_have_passed(const Share& share, Time reached) const {
  if (one_thread_) return false;
  for (int polls = 0; polls < kMaxSharePolls; ++polls, relax()) {
    bool over = false;
    for (const Share& other : shares_)
      over |= &other != &share && other.over.load(std::memory_order_acquire) &&
              other.reached.load(std::memory_order_relaxed) <= reached;
    if (others_reached(share) > reached) return true;
    if (over) return false;
  }
  return false;
}

}  // namespace uncore
