// A pool of host threads that divide the shares of each call among them.
//
// Interface: together(what) calls what(i) once for each share i, and returns when all are done.
// Each thread begins with the share of its own number, so that the share's data stay in the caches
// of one host core. It goes on with shares that no thread has begun, so a thread that the host does
// not schedule does not delay the others. A waiting thread polls for some microseconds, then
// sleeps. Invariant: between two calls only the caller's thread accesses shared data.
#pragma once

#include <functional>
#include <memory>

namespace uncore {

// Tells the host core that this is a polling loop (x86 PAUSE, Arm YIELD).
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class HostThreads {
 public:
  // `threads` includes the calling thread.
  HostThreads(unsigned threads, unsigned shares);
  ~HostThreads();

  void together(const std::function<void(unsigned)>& what);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace uncore
