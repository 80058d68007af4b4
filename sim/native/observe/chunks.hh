// A sequence that only grows, and whose elements keep their addresses. Unlike a std::vector it does
// not copy elements when it grows, and it allocates less often than a std::deque, which allocates
// 512 bytes at a time.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace uncore {

template <class T>
class Chunks {
 public:
  template <class... Arguments>
  T& add(Arguments&&... arguments) {
    if (size_ % kChunk == 0) chunks_.emplace_back().reserve(kChunk);
    ++size_;
    return chunks_.back().emplace_back(std::forward<Arguments>(arguments)...);
  }
  T& operator[](std::size_t index) { return chunks_[index / kChunk][index % kChunk]; }
  const T& operator[](std::size_t index) const { return chunks_[index / kChunk][index % kChunk]; }
  std::size_t size() const { return size_; }

  template <class F>
  void each(F f) {
    for (auto& chunk : chunks_)
      for (T& element : chunk) f(element);
  }
  template <class F>
  void each(F f) const {
    for (const auto& chunk : chunks_)
      for (const T& element : chunk) f(element);
  }

 private:
  static constexpr std::size_t kChunk = 1024;
  std::vector<std::vector<T>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace uncore
