// Pseudo-random draws from the job's seed (section V of the model): the source of variation between
// runs.
//
// A draw is a function of four numbers only: the seed, the purpose of the draw, the hart or core
// that draws, and the count of its draws. So neither the order of events nor how far a core runs
// ahead can change it (V2).
//
// Interface: splitmix(x) is a hash. Draws(purpose, seed, number, max) is the stream of draws of the
// hart or core with this number for one purpose; calling it with a count returns a number from 0 to
// `max`. It converts to false if `max` is 0.
#pragma once

#include "time/time.hh"

namespace uncore {

// SplitMix64 (Steele, Lea and Flood 2014).
constexpr uint64_t splitmix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Draws {
 public:
  enum What : uint64_t {
    start = 1,
    request = 2,
    hold = 3,
    load = 4,
    store = 5,
    random = 6,
    answer = 7,
    stall = 8,
    slice = 9
  };

  Draws(What purpose, uint64_t seed, uint64_t number, Time max)
      : stream_(splitmix(splitmix(splitmix(seed) + purpose) + number)), max_(max) {}

  explicit operator bool() const { return max_ > 0; }
  Time operator()(uint64_t count) const {
    using Wide = unsigned __int128;
    return static_cast<Time>((Wide{splitmix(stream_ + count)} * (Wide{max_} + 1)) >> 64);
  }

 private:
  uint64_t stream_;
  Time max_;
};

}  // namespace uncore
