// A pool of host threads that divide the shares of each call among them.
//
// Interface: together(what) calls what(i) once for each share i, and returns when all are done.
// Each thread begins with the share of its own number, so that the share's data stay in the caches
// of one host core. It goes on with shares that no thread has begun, so a thread that the host does
// not run delays nobody. A waiting thread polls for some microseconds, then sleeps. Invariant:
// between two calls no thread but the caller's touches anything.
#pragma once

#include <functional>
#include <memory>

namespace uncore {

// Relaxes the host core between two polls of what another thread does.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class HostThreads {
 public:
  // `threads` includes the caller's.
  HostThreads(unsigned threads, unsigned shares);
  ~HostThreads();

  void together(const std::function<void(unsigned)>& what);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace uncore
