// Requests that wait for a line, in the order in which they arrived.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace uncore {

template <class Request>
class WaitingQueue {
 public:
  bool empty() const { return first_ == waiting_.size(); }
  std::size_t size() const { return waiting_.size() - first_; }
  const Request& front() const { return waiting_[first_]; }
  template <class F>
  bool any(F f) const {
    return std::any_of(waiting_.begin() + static_cast<std::ptrdiff_t>(first_), waiting_.end(), f);
  }
  template <class F>
  void each(F f) {
    std::for_each(waiting_.begin() + static_cast<std::ptrdiff_t>(first_), waiting_.end(), f);
  }
  void push(const Request& request) { waiting_.push_back(request); }
  void pop() {
    if (++first_ == waiting_.size())
      waiting_.clear(), first_ = 0;
    else if (first_ >= 64)
      drop_passed();
  }

 private:
  void drop_passed() {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  std::vector<Request> waiting_;
  std::size_t first_ = 0;
};

}  // namespace uncore
