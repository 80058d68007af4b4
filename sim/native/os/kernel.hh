// A small kernel: what Linux does for a program of one process, as far as a program can tell, and
// what it costs (section K of docs/model-system.md).
//
// kernel.cc takes traps, scheduler.cc says which task a hart runs, and user_memory.cc copies; the
// calls stand in a file for each group, and table.cc names them all. Its state is a value like the
// rest of the run. It changes at events only, in the order of time.
//
// Interface: a Supervisor (core/supervisor.hh) that begin() gives a program to; for the outcome
// tasks(), strace(), touched(). Calls are functions of a Kernel and the Task that calls; what they
// share is public below.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/core.hh"
#include "core/supervisor.hh"
#include "os/address_space.hh"
#include "os/files.hh"
#include "os/task.hh"

namespace uncore {

class Kernel;

struct Call {
  uint16_t number;
  const char* name;
  Work (*run)(Kernel&, Task&);
  bool shows_life = false;  // the watchdog need not bark after it
};
const Call* call_of(uint64_t number);

class Kernel : public Supervisor {
 public:
  struct Parts {
    const MachineSpec& machine;
    const JobSpec& job;
    const Agents& agents;
    AddressMap& map;
    EventQueue& queue;
    FunctionalMemory& memory;
    Services& services;
    uint64_t room;  // bytes of memory
  };
  explicit Kernel(const Parts& parts);

  // The first task stands at the program's entry, on the first hart.
  void begin(const std::vector<Thread*>& threads);

  void trapped(Thread& thread) override;
  std::optional<Access> proceed(Thread& thread) override;
  bool mapped(uint64_t address, unsigned size) const override;
  void marked(Thread& thread, unsigned code, uint64_t value) override;

  const std::vector<std::unique_ptr<Task>>& tasks() const { return tasks_; }
  std::string process_directory() const { return "/files"; }  // what --files names
  Registers registers_of(const Task& task) const;
  std::string strace;

  // ---- what calls share

  const Parts parts;
  const ProcessSpec& process;
  AddressSpace space;
  Files files;
  uint64_t program_break;

  uint64_t* x(Task& t) { return on(t).hart.x; }
  Thread& on(const Task& t) const { return *harts_[t.hart].thread; }
  Time now(const Task& t) const { return on(t).hart.clock; }
  std::size_t harts() const { return harts_.size(); }
  void end(Task& t, int code);                    // of the program
  void give_up(Thread& thread, std::string why);  // it cannot go on

  // User memory (user_memory.cc): 0, or -EFAULT.
  Work reach(Task& t, uint64_t address, uint64_t size);
  Work copy_in(Task& t, uint64_t from, std::span<uint8_t> to);
  Work copy_out(Task& t, std::span<const uint8_t> from, uint64_t to);
  Work copy_text(Task& t, uint64_t from, std::string& to);
  Work put(Task& t, uint64_t to, uint64_t value, unsigned size);
  void hide_pages(uint64_t begin, uint64_t end);  // they keep what they hold
  Work drop_pages(Task& t, uint64_t begin, uint64_t end);

  // A spin lock of the kernel's, by its line.
  Work lock(Flow& by, uint64_t line);
  Work unlock(Flow& by, uint64_t line);
  static constexpr Time kPoll = 10'000;  // between two looks at a line that is to change
  static constexpr uint64_t kFirstTid = 1000;
  static constexpr uint64_t kMemory = AddressSpace::kEnd;  // the kernel's own
  static constexpr uint64_t kBuckets = kMemory + (uint64_t{1} << 32);
  static constexpr uint64_t kSpaceLock = kMemory + (uint64_t{2} << 32);
  uint64_t queue_line(uint32_t hart) const { return kMemory + hart * AddressSpace::kPage; }
  uint64_t fence_line(uint32_t hart) const { return queue_line(hart) + kLineBytes; }

  // Tasks and harts (scheduler.cc).
  Task* find(uint64_t tid);
  Task& spawn(const Task& parent);
  Work start(Task& by, Task& task);                // a new one
  Work wake(Flow& by, uint32_t from, Task& task);  // by what happens on hart `from`
  Work sleep(Task& t, Time until);                 // until it is woken; 1: by its time
  Work yield(Task& t);
  Work move(Task& by, Task& task);  // to a hart that it may run on
  Work fence_all(Task& by);         // harts that run the program
  Work retire(Task& t);             // for good
  struct Alarm {
    Time at = kNever, every = 0;
    uint32_t hart = 0;  // whose timer it is on
  };
  Alarm alarm;  // of the process
  void set_alarm(const Alarm& next);
  static constexpr uint64_t kEcallBytes = 4;  // a call is behind its instruction when it ends

  // Signals (signals.cc).
  Work signal(Flow& by, uint32_t from, Task& to, unsigned number);  // by what happens on `from`
  Work signal_process(Flow& by, uint32_t from, unsigned number);
  Work deliver(Task& t);
  struct Action {
    uint64_t handler = 0, flags = 0, mask = 0;
  };
  std::array<Action, 65> actions{};

  // Tasks that wait for a futex, by bucket, in their order.
  std::vector<std::deque<Task*>> buckets;
  Work wake_futex(Task& by, uint64_t word, uint64_t most);
  std::size_t bucket_of(uint64_t address) const;
  uint64_t drawn = 0;  // random bytes given so far

 private:
  struct Cpu {
    Thread* thread = nullptr;
    Task* current = nullptr;  // null: it looks for one, or idles
    std::deque<Task*> queue;  // those that can run
    Flow flow;                // what the hart does without a task
    uint32_t coming = 0;      // wake-ups under way to it
    Time slice_ends = kNever;
    std::vector<Task*> fences;                   // who waits until it has fenced
    std::set<std::pair<Time, uint32_t>> alarms;  // of tasks that went to sleep here, by tid
  };

  static constexpr uint32_t kOfProcess = 0;  // the alarm that is no task's

  Cpu& hart_of(const Thread& thread) { return harts_[thread.id]; }
  Flow& flow_of(Cpu& h) { return h.current ? *h.current : h.flow; }
  Work handle(Task& t, Fatal why);
  Work call(Task& t);
  Work fault(Task& t, Fatal why);
  Work interrupt(Flow& by, Cpu& h, Fatal why);
  Work idle_interrupt(Cpu& h, Fatal why);
  Work dispatch(Cpu& h);
  Work expire(Flow& by, Cpu& h);
  Work tick(Task& t);
  Work migrate(Task& t);
  Work carry(Cpu& h, uint32_t to, Task& t);
  Work poked(Flow& by, Cpu& h);
  Work enqueue(Flow& by, uint32_t from, uint32_t to, Task& task);
  const Task* steal(uint32_t hart) const;
  Task* take(uint32_t from, const Task* wanted);
  uint32_t place_for(const Task& task) const;
  std::size_t load(uint32_t hart) const;
  void leave(Task& t, Task::State state);
  void install(Cpu& h, Task& t);
  void rest(Cpu& h);
  void set_timer(Cpu& h);
  void trace(Task& t, int64_t value, Time began);
  std::string describe(const Task& t, const Fatal& why) const;

  std::vector<Cpu> harts_;
  std::vector<std::unique_ptr<Task>> tasks_;
};

}  // namespace uncore
