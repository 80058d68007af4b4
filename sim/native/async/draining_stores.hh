// A store buffer for a memory that answers later: stores leave in order, one at a time (TSO).
//
// Invariant: unless the buffer is empty, the write of its oldest store is in flight.
#pragma once

#include <cstddef>
#include <optional>

#include "async/async_memory.hh"
#include "core/store_buffer.hh"

namespace uncore {

class DrainingStores {
 public:
  DrainingStores(AsyncMemory& memory, std::size_t entries) : memory_(memory), entries_(entries) {}

  bool empty() const { return buffer_.empty(); }
  bool full() const { return buffer_.size() >= entries_; }
  StoreBuffer::Match search(const Access& load, uint64_t& value) const {
    return buffer_.search(load.address, load.size, value);
  }
  void push(const Access& store) {
    buffer_.push({store.address, store.line, store.value, store.size});
    drain();
  }

  // Takes the answer to the oldest store. Returns false if the answer is to another request.
  bool answered(RequestId request) {
    if (under_way_ != request) return false;
    under_way_.reset();
    buffer_.remove(0);
    drain();
    return true;
  }

 private:
  void drain() {
    if (under_way_ || buffer_.empty()) return;
    const Store& oldest = buffer_.head();
    under_way_ = memory_.write(oldest.address, oldest.size, oldest.value);
  }

  AsyncMemory& memory_;
  const std::size_t entries_;
  StoreBuffer buffer_;
  std::optional<RequestId> under_way_;
};

}  // namespace uncore
