// The queue of requests that wait for a line, in order of arrival.
//
// It is a ring buffer, so that requests are never shifted: a thousand waiting requests do not fit
// the host's L1 cache. Only the valid part of each request is copied (Message::assign).
#pragma once

#include <cstddef>
#include <vector>

namespace uncore {

template <class Request>
class WaitingQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  const Request& front() const { return ring_[first_]; }
  template <class F>
  bool any(F f) const {
    for (std::size_t i = 0; i < size_; ++i)
      if (f(ring_[at(i)])) return true;
    return false;
  }
  template <class F>
  void each(F f) {
    for (std::size_t i = 0; i < size_; ++i) f(ring_[at(i)]);
  }
  template <class Sent>
  void push(const Sent& request) {
    if (size_ == ring_.size()) grow();
    ring_[at(size_++)].assign(request);
  }
  // Moves the first request to `to`.
  void pop(Request& to) {
    to.assign(front());
    first_ = at(1);
    --size_;
  }

 private:
  std::size_t at(std::size_t index) const { return (first_ + index) & (ring_.size() - 1); }
  [[gnu::noinline]] void grow() {
    std::vector<Request> larger(ring_.empty() ? 4 : 2 * ring_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i].assign(ring_[at(i)]);
    ring_.swap(larger);
    first_ = 0;
  }

  std::size_t size_ = 0, first_ = 0;
  std::vector<Request> ring_;  // its size is a power of two, or 0
};

}  // namespace uncore
