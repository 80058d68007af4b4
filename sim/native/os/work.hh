// Kernel work that takes simulated time, written as coroutines, so that it reads like plain code.
//
//     Work futex_wake(Task& t) {
//       co_await t.store(lock, 4, 1);       an access, which takes its time
//       co_await t.spend(200'000);          ps that pass
//       co_return woken;                    the value, for the program's a0
//     }
//
// A Flow executes such work. A task is a flow, and each hart has one for the time without a task.
// The hart resumes its flow at an event (Linux::proceed), and the flow runs until something takes
// time: its `next_access`, or its `pause`.
//
// Invariant: a Work begins when another Work awaits it, or when a flow begins to execute it, and
// completes before its awaiter continues. Coroutine frames are plain memory, so that a run can be
// saved while a Work is in progress.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "core/access.hh"
#include "uncore_abi.h"

namespace uncore {

class [[nodiscard]] Work {
 public:
  struct promise_type {
    int64_t value = 0;
    std::coroutine_handle<> caller;

    Work get_return_object() {
      return Work(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    // Resumes the Work that awaits this one, when this one has completed.
    struct FinalAwaiter {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        const std::coroutine_handle<> caller = h.promise().caller;
        return caller ? caller : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    FinalAwaiter final_suspend() noexcept { return {}; }
    void return_value(int64_t v) { value = v; }
    void unhandled_exception() { throw; }
  };

  Work(Work&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Work& operator=(Work&&) = delete;
  ~Work() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
    handle_.promise().caller = caller;
    return handle_;
  }
  int64_t await_resume() const { return handle_.promise().value; }

  std::coroutine_handle<> handle() const { return handle_; }
  bool done() const { return handle_.done(); }

 private:
  explicit Work(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

class Flow {
 public:
  bool busy() const { return work_.has_value(); }
  void take_up(Work work) {
    work_.emplace(std::move(work));
    innermost_ = work_->handle();
  }
  // Resumes the work until something takes time. `read` is the value that its last access has read.
  // Returns false if the work is done.
  bool proceed(uint64_t read) {
    read_ = read;
    next_access.reset();
    pause = 0;
    std::exchange(innermost_, nullptr).resume();
    if (!work_->done()) return true;
    work_.reset();
    return false;
  }

  // Drops unfinished work. Its coroutine frames are destroyed and release what they hold.
  void abandon() { work_.reset(); }

  // The hart that does the work; for a task, the hart on which it runs, is queued, or ran last.
  uint32_t hart = 0;
  std::optional<Access> next_access;
  Time pause = 0;

  // A flow can await an access (AccessAwaiter), time that passes (TimeAwaiter), or that another
  // flow resumes it (ResumeAwaiter).
  struct AccessAwaiter {
    Flow& flow;
    Access access;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> awaiter) {
      flow.innermost_ = awaiter;
      flow.next_access = access;
    }
    uint64_t await_resume() const { return flow.read_; }
  };
  struct TimeAwaiter {
    Flow& flow;
    Time time;
    bool await_ready() const { return time == 0; }
    void await_suspend(std::coroutine_handle<> awaiter) {
      flow.innermost_ = awaiter;
      flow.pause = time;
    }
    void await_resume() const {}
  };
  struct ResumeAwaiter {
    Flow& flow;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> awaiter) { flow.innermost_ = awaiter; }
    void await_resume() const {}
  };

  using K = Access::Kind;
  AccessAwaiter load(uint64_t address, unsigned size) {
    return {*this, {.kind = K::load, .size = static_cast<uint8_t>(size), .address = address}};
  }
  AccessAwaiter store(uint64_t address, unsigned size, uint64_t value) {
    return {
        *this,
        {.kind = K::store, .size = static_cast<uint8_t>(size), .address = address, .value = value}};
  }
  AccessAwaiter amo(Amo op, uint64_t address, unsigned size, uint64_t operand,
                    uint64_t expected = 0) {
    return {*this,
            {.kind = K::amo,
             .op = op,
             .size = static_cast<uint8_t>(size),
             .address = address,
             .value = operand,
             .expected = expected}};
  }
  AccessAwaiter fence() { return {*this, {.kind = K::fence}}; }
  // Sends a software interrupt to a hart (I1).
  AccessAwaiter interrupt(uint32_t hart) {
    const uint64_t msip = UC_CLINT_BASE + 4 * uint64_t{hart};
    return {*this, {.kind = K::write, .size = 4, .address = msip, .value = 1}};
  }
  // Reads a register of another core and waits for the answer (I4).
  AccessAwaiter ask(uint64_t address) {
    return {*this, {.kind = K::read, .size = 4, .address = address}};
  }
  TimeAwaiter spend(Time time) { return {*this, time}; }
  // Suspends the flow until another one resumes it. A task is resumed when it is installed on a
  // hart.
  ResumeAwaiter suspend() { return {*this}; }

 private:
  std::optional<Work> work_;           // the outermost Work; none: the flow has nothing to do
  std::coroutine_handle<> innermost_;  // the innermost Work, which is resumed next
  uint64_t read_ = 0;                  // the value that the last access has read
};

}  // namespace uncore
