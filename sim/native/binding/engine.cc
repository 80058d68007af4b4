// The engine for Python: class Run.
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
  d["left"] = pace.left();
  d["span"] = Time{1} << pace.shift();
  d["first"] = spans.size() ? pace.first() : 0;
  d["spans"] = spans;
  d["cold_misses"] = engine.counters.cold_misses;
  return d;
}

// Returns counts of the host's work for the run, in addition to events. Some of them depend on how
// far cores have run ahead, so they may differ between runs with the same outcome.
nb::dict work(const Engine& engine) {
  nb::dict d;
  d["runs"] = engine.counters.runs;
  d["messages"] = engine.network.messages();
  d["crossings"] = engine.network.crossings();
  const ParallelCores::Worth parallel = engine.parallel();
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

// Runs at most `events` events, at most `span` ps, and for about `host_s` seconds of the host. It
// reads the host's clock after every few events, because a program can make an event expensive.
bool step(Engine& engine, uint64_t events, Time span, double host_s) {
  using Clock = std::chrono::steady_clock;
  constexpr uint64_t kEventsBetweenLooks = 32;
  const Arena::In in(&engine);
  const Time begun = engine.queue.now(), until = span < kNever - begun ? begun + span : kNever;
  const auto late = Clock::now() + std::chrono::duration<double>(std::min(host_s, 1e6));
  do {
    const uint64_t some = std::min(events, kEventsBetweenLooks);
    if (!engine.step(some, until - engine.queue.now())) return false;
    events -= some;
  } while (events > 0 && engine.queue.now() <= until && Clock::now() < late);
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
  const Arena::In in(&engine);
  engine.type(text, when);
}

void observe(Engine& engine) {
  const Arena::In in(&engine);
  engine.observe();
}

// Returns whether a kernel has read all letters typed and waits for more.
bool listens(const Engine& engine) {
  const Console& console = engine.services.console;
  return console.listens && !console.is_typed();
}

bool sleeps(const Engine& engine) {
  return std::ranges::all_of(engine.threads,
                             [](const Thread* t) { return t->mode == Thread::Mode::idle; });
}

nb::list files(Engine& engine, uint64_t most) {
  nb::list all;
  if (!engine.os) return all;
  const Arena::In in(&engine);
  for (const auto& [path, file] : engine.os->files.tree.changed()) {
    engine.os->memory.pull(file, 0, file->data.size());
    nb::object bytes = nb::none();
    if (file->data.size() <= most) {
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
  const uint64_t os_bytes = engine.os ? engine.os->kept() : 0;
  return engine.memories.touched() + engine.services.console.text.size() + os_bytes;
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
          "Numbers of system calls that the program has asked for and that are not there.")
      .def("files", &files, nb::arg("most"),
           "Paths and bytes of files that the program has made or changed; None: more than `most`.")
      .def_prop_ro(
          "waits_in_vain", [](const Engine& e) { return e.os && e.os->scheduler.waits_in_vain(); },
          "Does a thread wait while a hart that may run it idles? Rule K6.1 says no.")
      .def("tasks", &tasks);
}

void bind_probes(nb::class_<Engine>& run) {
  run.def("log", &log_columns, "The transaction log by columns; None unless asked for.")
      .def("trace", &trace_columns, "The trace by columns; None unless asked for.")
      .def("lines", &line_columns,
           "The attribution by columns, without rows; None unless asked for.")
      .def("uses", &use_columns, nb::arg("lines") = nb::none(),
           "Its rows, of these lines or of all: one a line, pc, hart, kind and chain of callers.")
      .def("summary", &summary_columns, nb::arg("edges"), nb::arg("apart"), nb::arg("part"),
           "The rows in the region of interest, summed up between edges, the others, by line; and "
           "those "
           "of the first that waited.");
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
      .def("step", &step, nb::arg("events"), nb::arg("span") = kNever, nb::arg("host_s") = 1e6,
           nb::call_guard<nb::gil_scoped_release>(),
           "Runs at most that many events, about that many ps and seconds of this computer; False "
           "when the run has ended.")
      .def("use_host", &use_host, nb::arg("shares"), nb::arg("threads"), nb::arg("eager") = false,
           "From now on threads of the host execute shares of the cores, where that pays or "
           "`eager`.")
      .def_prop_ro("end", [](const Engine& e) { return e.end.name(); })
      .def_prop_ro("exit_code", [](const Engine& e) { return e.end.code(); })
      .def_prop_ro("reason", [](const Engine& e) { return e.end.reason(); })
      .def_prop_ro("now", [](const Engine& e) { return e.queue.now(); })
      .def_prop_ro("operations", [](const Engine& e) { return e.services.operations(); })
      .def_prop_ro(
          "touched", &touched,
          "Bytes of memory read or written so far, in pages, and what a program has written.")
      .def("observe", &observe, "From now on every access is attributed: see lines().")
      .def("interrupts", &interrupts, "By hart: ipi, device, timer.")
      .def_prop_ro("listens", &listens, "Does a kernel wait for what is typed?")
      .def_prop_ro("sleeps", &sleeps, "Do all harts, until an interrupt?")
      .def("type", &type, nb::arg("text"), nb::arg("when"), "At a console, at a time to come.")
      .def_prop_ro("console", &console)
      .def("read", &read, nb::arg("address"), nb::arg("size"),
           "Memory as the machine would read it, wherever the newest bytes are.")
      .def("latency", &latency, nb::arg("kind"), nb::arg("source"), nb::arg("target"),
           "ps of a message alone on its way between two stops; kind: control, data or snoop.")
      .def("harts", &harts)
      .def("counters", &counters, nb::arg("lines") = kAllLines)
      .def("pace", &pace)
      .def("work", &work, "What it has cost; depends on how far cores ran ahead.")
      .def("accesses", &accesses, "By hart: number, pc, address, size, reads, writes, seen (H8).");
}

}  // namespace uncore
