// A pool of host threads. Each call is divided into shares, which the threads execute.
//
// Interface: run_shares(what) calls what(i) once for each share i, and returns when all are done.
// Each thread begins with the share of its own number, so that the share's data stay in the caches
// of one host core. Then it executes shares that no thread has begun, so that a thread that the
// host does not schedule does not delay the others. A waiting thread polls for some microseconds,
// then sleeps. Invariant: between two calls only the caller's thread accesses shared data.
#pragma once

#include <functional>
#include <memory>

namespace uncore {

// Executes the host's instruction for polling loops (x86 PAUSE, Arm YIELD).
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class HostThreads {
 public:
  // `threads`: number of threads, including the calling one.
  HostThreads(unsigned threads, unsigned shares);
  ~HostThreads();

  void run_shares(const std::function<void(unsigned)>& what);

 private:
  struct SharedState;
  std::unique_ptr<SharedState> shared_;
};

}  // namespace uncore
