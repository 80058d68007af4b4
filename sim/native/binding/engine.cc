// Binds class Run: the engine for Python.
#include "engine/engine.hh"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "binding/observe.hh"
#include "binding/read_spec.hh"
#include "engine/counted.hh"
#include "storage/arena.hh"

namespace nb = nanobind;

namespace uncore {
namespace {

const char* word(Thread::Mode mode) {
  constexpr const char* names[] = {"running", "waiting", "spinning", "idle", "stopped"};
  return names[static_cast<std::size_t>(mode)];
}

nb::list harts(Engine& engine) {
  nb::list all;
  for (uint64_t t = 0; t < engine.threads.size(); ++t) {
    const Thread& thread = *engine.threads[t];
    nb::dict row;
    row["pc"] = thread.hart.pc;
    row["clock"] = thread.hart.clock;
    row["instructions"] = thread.hart.instructions;
    row["mode"] = word(thread.mode);
    row["address"] =
        thread.mode == Thread::Mode::waiting ? nb::cast(thread.pending.address) : nb::none();
    all.append(row);
  }
  return all;
}

const char* word(Task::State state) {
  constexpr const char* names[] = {"ready", "running", "sleeping", "dead"};
  return names[static_cast<std::size_t>(state)];
}

// Returns the return addresses of a thread's call stack, the innermost first.
std::vector<uint64_t> callers(Engine& engine, Unwinding& unwinding, const Registers& registers) {
  constexpr std::size_t kMaxCallers = 64;
  const auto read = [&](uint64_t address, uint64_t& word) {
    if (address % sizeof word || !engine.os->memory.present(address, sizeof word)) return false;
    word = engine.functional.doubleword(address);
    return true;
  };
  const auto& x = registers.x;
  std::vector<uint64_t> found;
  unwinding.walk(
      {.pc = registers.pc, .ra = x[1], .sp = x[2], .fp = x[8]}, read,
      [&](uint64_t address) { return found.push_back(address), found.size() < kMaxCallers; });
  return found;
}

// Returns the threads of a Linux program. Returns an empty list for any other program.
nb::list tasks(Engine& engine) {
  nb::list all;
  if (!engine.os) return all;
  Unwinding unwinding(engine.job);
  for (const auto& task : engine.os->tasks.all()) {
    const Registers registers = task->read_registers();
    nb::dict row;
    row["tid"] = task->tid;
    row["state"] = word(task->state);
    row["hart"] = task->hart;
    row["pc"] = registers.pc;
    const bool ended = task->state == Task::State::dead;
    row["callers"] = ended ? std::vector<uint64_t>() : callers(engine, unwinding, registers);
    row["call"] = Linux::call_of(*task);
    row["since"] = task->called;
    row["waits_on"] = task->waits_on;
    row["operations"] = task->operations;
    row["began"] = task->began == kNever ? nb::none() : nb::object(nb::int_(task->began));
    row["ended"] = task->ended;
    row["born"] = task->born;
    row["died"] = task->died == kNever ? nb::none() : nb::object(nb::int_(task->died));
    all.append(row);
  }
  return all;
}

// Returns the number of interrupts of each hart, by kind. Messages from other harts are counted
// when they arrive, because a kernel may handle several of them in one interrupt.
nb::list interrupts(const Engine& engine) {
  nb::list all;
  for (const Thread* thread : engine.threads) {
    nb::dict row;
    row["ipi"] = engine.interrupts.sent(thread->id) + thread->taken.software;
    row["device"] = engine.interrupts.taken(thread->id);
    row["timer"] = thread->taken.timer;
    all.append(row);
  }
  return all;
}

nb::dict counters(const Engine& engine, std::size_t lines) {
  nb::dict d;
  each_count(engine, lines,
             [&](const char* name, const auto& value) { d[name] = nb::cast(value); });
  return d;
}

// Returns the pace of operations as the fields of uncore.result.Pace.
nb::dict pace(const Engine& engine) {
  const Pace& pace = engine.services.pace();
  nb::list spans;
  pace.each([&](const Pace::Span& s) { spans.append(nb::make_tuple(s.operations, s.last)); });
  nb::dict d;
  d["entered"] = pace.entered();
  d["left"] = pace.first_end();
  d["span"] = Time{1} << pace.shift();
  d["first"] = spans.size() ? pace.first() : 0;
  d["spans"] = spans;
  d["cold_misses"] = engine.counters.cold_misses;
  return d;
}

// Returns counts of the work that the host has done for the run, besides events. Some of them
// depend on how far cores have run ahead, so they may differ between runs with the same outcome.
nb::dict work(const Engine& engine) {
  nb::dict d;
  d["runs"] = engine.counters.runs;
  d["messages"] = engine.network.messages();
  d["crossings"] = engine.network.crossings();
  const ParallelCores::ShareTotals parallel = engine.parallel();
  d["parallel"] = nb::make_tuple(parallel.calls, parallel.instructions, parallel.longest);
  d["bytes"] = engine.cores.size() * sizeof(Core) + engine.threads.size() * sizeof(Thread);
  return d;
}

nb::list accesses(const Engine& engine) {
  nb::list harts;
  if (!engine.accesses) return harts;
  for (const auto& hart : engine.accesses->of_harts()) {
    nb::list all;
    for (const Accesses::Access& a : hart)
      all.append(nb::make_tuple(a.number, a.pc, a.address, a.size, a.reads, a.writes, a.seen));
    harts.append(all);
  }
  return harts;
}

Time latency(Engine& engine, const std::string& kind, int32_t source, int32_t target) {
  const Size size = kind == "control" ? Size::control : kind == "data" ? Size::data : Size::snoop;
  return engine.fabric.latency(source, target, size);
}

// Runs at most `events` events, at most `span` ps of simulated time, and about `host_s` seconds of
// host time. It reads the host's clock every few events, because one event may take long.
bool step(Engine& engine, uint64_t events, Time span, double host_s) {
  using Clock = std::chrono::steady_clock;
  constexpr uint64_t kEventsBetweenClockReads = 32;
  const Arena::Scope scope(&engine);
  const Time begun = engine.queue.now(), until = span < kNever - begun ? begun + span : kNever;
  const auto deadline = Clock::now() + std::chrono::duration<double>(std::min(host_s, 1e6));
  do {
    const uint64_t batch = std::min(events, kEventsBetweenClockReads);
    if (!engine.step(batch, until - engine.queue.now())) return false;
    events -= batch;
  } while (events > 0 && engine.queue.now() <= until && Clock::now() < deadline);
  return true;
}

void use_host(Engine& engine, unsigned shares, unsigned threads, bool eager) {
  engine.use_host({shares, threads, eager});
}

// Returns the console's text. Bytes that are not UTF-8 become replacement characters.
nb::object console(const Engine& engine) {
  const std::string& text = engine.services.console.text;
  const auto size = static_cast<Py_ssize_t>(text.size());
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), size, "replace"));
}

void type(Engine& engine, const std::string& text, Time when) {
  const Arena::Scope scope(&engine);
  engine.type(text, when);
}

void observe(Engine& engine) {
  const Arena::Scope scope(&engine);
  engine.observe();
}

// Returns whether a kernel has read all typed characters and waits for more.
bool kernel_awaits_input(const Engine& engine) {
  const Console& console = engine.services.console;
  return console.listens && !console.is_typed();
}

// Returns whether every hart is idle, so that only an interrupt or a timer can wake one.
bool sleeps(const Engine& engine) {
  return std::ranges::all_of(engine.threads,
                             [](const Thread* t) { return t->mode == Thread::Mode::idle; });
}

// Returns (path, bytes) of each file that the program has made or changed; None instead of the
// bytes of a file that has more than `max_bytes`.
nb::list files(Engine& engine, uint64_t max_bytes) {
  nb::list all;
  if (!engine.os) return all;
  const Arena::Scope scope(&engine);
  for (const auto& [path, file] : engine.os->files.tree.changed()) {
    engine.os->memory.pull(file, 0, file->data.size());
    nb::object bytes = nb::none();
    if (file->data.size() <= max_bytes) {
      std::vector<uint8_t> content(file->data.size());
      file->data.read(0, content);
      bytes = nb::bytes(content.data(), content.size());
    }
    all.append(nb::make_tuple(nb::bytes(path.data(), path.size()), bytes));
  }
  return all;
}

// Returns how much of the host's memory the run uses for its program, in bytes.
uint64_t touched(const Engine& engine) {
  const uint64_t os_bytes = engine.os ? engine.os->host_bytes() : 0;
  return engine.memories.touched_bytes() + engine.services.console.text.size() + os_bytes;
}

nb::bytes read(Engine& engine, uint64_t address, std::size_t size) {
  std::vector<uint8_t> bytes(size);
  engine.functional.read(address, size, bytes.data());
  return nb::bytes(bytes.data(), bytes.size());
}

// Binds properties of runs of Linux programs.
void bind_process(nb::class_<Engine>& run) {
  run.def_prop_ro("strace", [](const Engine& e) { return e.os ? e.os->strace : std::string(); })
      .def_prop_ro(
          "missing_calls",
          [](const Engine& e) {
            return e.os ? std::vector<uint64_t>(e.os->missing.begin(), e.os->missing.end())
                        : std::vector<uint64_t>();
          },
          "Numbers of the system calls that the program has made and the engine does not have.")
      .def("files", &files, nb::arg("most"),
           "Returns (path, bytes) of each file that the program has made or changed; None for the "
           "bytes of a file that has more than `most`.")
      .def_prop_ro(
          "waits_in_vain", [](const Engine& e) { return e.os && e.os->scheduler.waits_in_vain(); },
          "True if a thread waits while a hart that may run it is idle, which violates K6.1.")
      .def("tasks", &tasks);
}

void bind_probes(nb::class_<Engine>& run) {
  run.def("log", &log_columns,
          "Returns the transaction log by columns; None if it was not requested.")
      .def("trace", &trace_columns, "Returns the trace by columns; None if it was not requested.")
      .def("lines", &line_columns,
           "Returns the attribution by columns, without its rows; None if it was not requested.")
      .def(
          "uses", &use_columns, nb::arg("lines") = nb::none(),
          "Returns the rows of the attribution, for these lines or for all: one for each line, pc, "
          "hart, kind of operation and chain of callers.")
      .def("summary", &summary_columns, nb::arg("edges"), nb::arg("apart"), nb::arg("part"),
           "Returns three tables: sums of the rows in the region of interest, by line and stretch "
           "of addresses; sums of the other rows, by line; and the rows in the region that waited. "
           "`edges` are the bounds of the stretches. A stretch that is `apart` has a sum for each "
           "`part` bytes of a line.");
}

}  // namespace

void bind_engine(nb::module_& module) {
  nb::class_<Engine> run(module, "Run", "One machine, one program, one run of the native engine.");
  bind_process(run);
  bind_probes(run);
  run.def(
         "__init__",
         [](Engine* self, nb::handle machine, nb::handle job) {
           new (self) Engine(from_python<MachineSpec>(machine), from_python<JobSpec>(job));
         },
         nb::arg("machine"), nb::arg("job"))
      .def(
          "step", &step, nb::arg("events"), nb::arg("span") = kNever, nb::arg("host_s") = 1e6,
          nb::call_guard<nb::gil_scoped_release>(),
          "Runs at most `events` events, `span` ps of simulated time and about `host_s` seconds of "
          "host time; False when the run has ended.")
      .def("use_host", &use_host, nb::arg("shares"), nb::arg("threads"), nb::arg("eager") = false,
           "Makes `threads` threads of the host execute cores from now on, divided into `shares`: "
           "where that saves time, or always if `eager`.")
      .def_prop_ro("end", [](const Engine& e) { return e.end.name(); })
      .def_prop_ro("exit_code", [](const Engine& e) { return e.end.code(); })
      .def_prop_ro("reason", [](const Engine& e) { return e.end.reason(); })
      .def_prop_ro("now", [](const Engine& e) { return e.queue.now(); })
      .def_prop_ro("operations", [](const Engine& e) { return e.services.operations(); })
      .def_prop_ro("touched", &touched,
                   "Bytes of host memory that the run uses for its program: pages, output, files.")
      .def("observe", &observe, "Attributes every access from now on; lines() returns the result.")
      .def("interrupts", &interrupts,
           "Returns the number of interrupts of each hart by kind: ipi, device, timer.")
      .def_prop_ro("kernel_awaits_input", &kernel_awaits_input,
                   "True if a kernel waits for input from the console.")
      .def_prop_ro("sleeps", &sleeps, "True if every hart is idle until an interrupt.")
      .def("type", &type, nb::arg("text"), nb::arg("when"),
           "Types text at the console, at a future time in ps.")
      .def_prop_ro("console", &console)
      .def("read", &read, nb::arg("address"), nb::arg("size"),
           "Reads memory as the machine would, wherever the newest bytes are.")
      .def("latency", &latency, nb::arg("kind"), nb::arg("source"), nb::arg("target"),
           "Returns the latency in ps of a message between two stops without other traffic; `kind` "
           "is control, data or snoop.")
      .def("harts", &harts)
      .def("counters", &counters, nb::arg("lines") = kAllLines)
      .def("pace", &pace)
      .def("work", &work,
           "Returns counts of the host's work; some depend on how far cores have run ahead.")
      .def("accesses", &accesses,
           "Returns the accesses of each hart: number, pc, address, size, reads, writes, seen "
           "(H8).");
}

}  // namespace uncore
