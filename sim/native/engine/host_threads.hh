// Threads of the host that share out work, again and again.
//
// Interface: together(what) calls what(i) once for each share i, and returns when all are done.
// Each thread begins with shares of its own, so that what one touches stays in the caches of one
// core of the host, and goes on with those that nobody has begun: a thread that the host does not
// run holds up nobody. Invariant: between two calls no thread but the caller's touches anything. A
// thread that waits looks for work for some microseconds, then sleeps.
#pragma once

#include <functional>
#include <memory>

namespace uncore {

// Between two looks at what another thread does.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class HostThreads {
 public:
  // `threads`: the caller's among them.
  HostThreads(unsigned threads, unsigned shares);
  ~HostThreads();

  void together(const std::function<void(unsigned)>& what);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace uncore
