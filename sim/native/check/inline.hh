// Small containers that do not allocate memory, so that a whole system can be copied as one block.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>

namespace uncore::check {

// A queue of at most N items. Its items can also be accessed by index.
template <class T, int N>
class FixedQueue {
 public:
  bool empty() const { return size_ == 0; }
  int size() const { return size_; }
  const T& front() const { return items_[0]; }
  void push(const T& item) {
    if (size_ == N) throw std::length_error("check: more messages than the system has room for");
    items_[static_cast<std::size_t>(size_++)] = item;
  }
  void pop() { remove(0); }
  void pop(T& to) {
    to = front();
    pop();
  }
  // Removes an item and keeps the order of the others.
  void remove(int index) {
    for (int i = index + 1; i < size_; ++i) (*this)[i - 1] = (*this)[i];
    --size_;
  }
  // Removes an item and puts the last one in its place.
  void replace_by_last(int index) { (*this)[index] = (*this)[--size_]; }
  void clear() { size_ = 0; }
  T& operator[](int i) { return items_[static_cast<std::size_t>(i)]; }
  const T& operator[](int i) const { return items_[static_cast<std::size_t>(i)]; }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size_; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, N> items_{};
  int size_ = 0;
};

// A set of children by ordinal.
class SmallSet {
 public:
  explicit SmallSet(int /*children*/ = 0) {}
  bool any() const { return bits_ != 0; }
  bool any_but(int i) const { return (bits_ & ~(i < 0 ? 0 : 1u << i)) != 0; }
  bool has(int i) const { return (bits_ >> i & 1) != 0; }
  void add(int i) { bits_ |= 1u << i; }
  void remove(int i) { bits_ &= ~(1u << i); }
  void clear() { bits_ = 0; }
  int count() const { return std::popcount(bits_); }
  template <class Do>
  void each(Do&& act) const {
    for (uint32_t left = bits_; left != 0; left &= left - 1) act(std::countr_zero(left));
  }

 private:
  uint32_t bits_ = 0;
};

}  // namespace uncore::check
