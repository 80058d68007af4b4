#include "engine/host_threads.hh"

#ifndef __wasm__  // a web page has one thread

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace uncore {
namespace {

// Number of polls before a thread sleeps. They take about 50 us, about as long as waking a thread
// takes.
constexpr int kMaxPolls = 4'000;

// Waits until the word is no longer `old`. Returns its new value.
uint32_t changed(const std::atomic<uint32_t>& word, uint32_t old) {
  for (int looks = 0; looks < kMaxPolls; ++looks, relax())
    if (const uint32_t now = word.load(std::memory_order_acquire); now != old) return now;
  word.wait(old, std::memory_order_acquire);
  return word.load(std::memory_order_acquire);
}

}  // namespace

struct HostThreads::SharedState {
  // `begun` is the number of the last call of run_shares() in which a thread has begun this share.
  struct alignas(64) Share {
    std::atomic<uint32_t> begun = 0;
  };

  explicit SharedState(unsigned count) : shares(count) {}

  // Function of the present call. Only threads that have begun a share read it.
  const std::function<void(unsigned)>* what = nullptr;
  std::atomic<bool> over = false;
  alignas(64) std::atomic<uint32_t> call = 0;
  alignas(64) std::atomic<uint32_t> left = 0;  // number of shares that are not done
  std::vector<Share> shares;
  std::mutex failure_mutex;
  std::exception_ptr failure;
  std::vector<std::jthread> others;

  void work(unsigned thread) {
    for (uint32_t seen = 0;;) {
      seen = changed(call, seen);
      if (over) return;
      go_through(thread, seen);
    }
  }
  // Executes the shares of call number `now` that no other thread has begun. A thread that arrives
  // after the end of the call finds none.
  void go_through(unsigned thread, uint32_t now) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const std::size_t share = (thread + i) % shares.size();
      uint32_t last = now - 1;
      if (!shares[share].begun.compare_exchange_strong(last, now, std::memory_order_acq_rel))
        continue;
      attempt(static_cast<unsigned>(share));
      if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) left.notify_one();
    }
  }
  void attempt(unsigned share) {
    try {
      (*what)(share);
    } catch (...) {
      const std::lock_guard one(failure_mutex);
      failure = std::current_exception();
    }
  }
  uint32_t begin(const std::function<void(unsigned)>* next) {
    left.store(static_cast<uint32_t>(shares.size()), std::memory_order_relaxed);
    what = next;
    const uint32_t now = call.fetch_add(1, std::memory_order_acq_rel) + 1;
    call.notify_all();
    return now;
  }
};

HostThreads::HostThreads(unsigned threads, unsigned shares)
    : shared_(std::make_unique<SharedState>(shares)) {
  for (unsigned i = 1; i < threads; ++i)
    shared_->others.emplace_back([shared = shared_.get(), i] { shared->work(i); });
}

HostThreads::~HostThreads() {
  shared_->over = true;
  shared_->call.fetch_add(1);
  shared_->call.notify_all();
}

void HostThreads::run_shares(const std::function<void(unsigned)>& what) {
  SharedState& s = *shared_;
  s.go_through(0, s.begin(&what));
  for (uint32_t left; (left = s.left.load(std::memory_order_acquire)) > 0;) changed(s.left, left);
  if (s.failure) std::rethrow_exception(std::exchange(s.failure, nullptr));
}

}  // namespace uncore

#else

namespace uncore {

struct HostThreads::SharedState {
  unsigned shares;
};
HostThreads::HostThreads(unsigned, unsigned shares) : shared_(new SharedState{shares}) {}
HostThreads::~HostThreads() = default;
void HostThreads::run_shares(const std::function<void(unsigned)>& what) {
  for (unsigned i = 0; i < shared_->shares; ++i) what(i);
}

}  // namespace uncore

#endif
