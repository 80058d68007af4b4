// The engine for Python: class Run. Reads a resolved machine attribute by attribute, so the names
// in spec.hh and in sim/uncore/topology/machine.py are the same ones.
#include "engine/engine.hh"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "binding/observe.hh"

namespace nb = nanobind;

namespace uncore {
namespace {

template <class T>
void get(T& field, nb::handle from, const char* name) {
  field = nb::cast<T>(from.attr(name));
}
#define GET(spec, field) get((spec).field, from, #field)

template <class T, class F>
std::vector<T> each(nb::handle sequence, F read) {
  std::vector<T> all;
  for (nb::handle item : sequence) all.push_back(read(item));
  return all;
}

LinkSpec link(nb::handle from) {
  LinkSpec l{};
  GET(l, source), GET(l, target), GET(l, control), GET(l, data), GET(l, snoop);
  GET(l, control_busy), GET(l, data_busy), GET(l, snoop_busy), GET(l, channel);
  return l;
}

CoreSpec core(nb::handle from) {
  CoreSpec c{};
  GET(c, instruction), GET(c, mispredict), GET(c, pause), GET(c, l1_hit), GET(c, l2_hit);
  GET(c, l1_sets), GET(c, l1_ways), GET(c, l2_sets), GET(c, l2_ways), GET(c, atomic), GET(c, hold);
  GET(c, store_buffer), GET(c, smt_share), GET(c, lr_exclusive), GET(c, far_atomics);
  return c;
}

ResolverSpec resolver(nb::handle from) {
  ResolverSpec r{};
  GET(r, knows), GET(r, reply), GET(r, unblock), GET(r, data);
  GET(r, children), GET(r, parents), GET(r, slices), GET(r, service), GET(r, data_hit);
  GET(r, grants), GET(r, grants_until), GET(r, entries), GET(r, ways), GET(r, data_sets);
  GET(r, data_ways), GET(r, memory), GET(r, lookup), GET(r, near);
  return r;
}

MemorySpec memory(nb::handle from) {
  MemorySpec m{};
  GET(m, stop), GET(m, latency), GET(m, busy), GET(m, size);
  return m;
}

MachineSpec machine(nb::handle from, std::vector<uint32_t> cells) {
  MachineSpec m{};
  m.each_core = each<CoreSpec>(from.attr("each_core"), core);
  GET(m, threads_per_core), GET(m, hart_cores), GET(m, core_stops), GET(m, shape);
  m.resolvers = each<ResolverSpec>(from.attr("resolvers"), resolver);
  m.memories = each<MemorySpec>(from.attr("memories"), memory);
  const nb::object interrupt = from.attr("interrupt");
  get(m.interrupt.send, interrupt, "send");
  get(m.interrupt.accept, interrupt, "accept");
  get(m.interrupt.entry, interrupt, "entry");
  get(m.interrupt.exit, interrupt, "exit");
  get(m.interrupt.multicast, interrupt, "multicast");
  m.stops = static_cast<uint32_t>(nb::len(nb::object(from.attr("stops"))));
  m.links = each<LinkSpec>(from.attr("links"), link);
  m.protocol = std::move(cells);
  return m;
}

JobSpec job(const nb::dict& d, nb::handle segments) {
  JobSpec j;
  j.placement = nb::cast<std::vector<uint32_t>>(d["placement"]);
  j.entry = nb::cast<uint64_t>(d["entry"]);
  j.text_begin = nb::cast<uint64_t>(d["text_begin"]);
  j.text_size = nb::cast<uint64_t>(d["text_size"]);
  j.stacks = nb::cast<uint64_t>(d["stacks"]);
  j.stack_stride = nb::cast<uint64_t>(d["stack_stride"]);
  j.stack_guard = nb::cast<uint64_t>(d["stack_guard"]);
  j.home.kind = static_cast<HomePolicy::Kind>(nb::cast<int>(d["home_kind"]));
  j.home.node = nb::cast<uint32_t>(d["home_node"]);
  j.slice = nb::cast<int32_t>(d["slice"]);
  j.watchdog = nb::cast<Time>(d["watchdog"]);
  j.lookahead = nb::cast<Time>(d["lookahead"]);
  j.fences = nb::cast<bool>(d["fences"]);
  j.sleep = nb::cast<bool>(d["sleep"]);
  j.log = nb::cast<bool>(d["log"]);
  j.lines = nb::cast<bool>(d["lines"]);
  for (nb::handle item : segments) {
    const auto bytes = nb::cast<nb::bytes>(item[1]);
    const auto* data = static_cast<const uint8_t*>(bytes.data());
    j.segments.push_back({nb::cast<uint64_t>(item[0]), {data, data + bytes.size()}});
  }
  return j;
}

const char* word(End::Cause end) {
  constexpr const char* names[] = {"running", "exited", "fatal", "stuck", "watchdog", "protocol"};
  return names[static_cast<std::size_t>(end)];
}

const char* word(Thread::Mode mode) {
  constexpr const char* names[] = {"running", "waiting", "spinning", "idle", "stopped"};
  return names[static_cast<std::size_t>(mode)];
}

nb::list harts(Engine& engine) {
  nb::list all;
  for (uint64_t t = 0; t < engine.threads(); ++t) {
    const Thread& thread = engine.thread(t);
    nb::dict one;
    one["pc"] = thread.hart.pc;
    one["clock"] = thread.hart.clock;
    one["instructions"] = thread.hart.instructions;
    one["mode"] = word(thread.mode);
    one["address"] =
        thread.mode == Thread::Mode::waiting ? nb::cast(thread.pending.address) : nb::none();
    all.append(one);
  }
  return all;
}

nb::dict counters(Engine& engine) {
  const Counters& c = engine.counters;
  nb::dict d;
  d["events"] = c.events;
  d["transactions"] = c.transactions;
  d["invalidations"] = c.invalidations;
  d["between"] = c.transfers_between;
  d["stored"] = c.transfers_stored;
  d["memory"] = c.transfers_memory;
  std::vector<std::pair<uint64_t, uint64_t>> lines(c.transfers_by_line.begin(),
                                                   c.transfers_by_line.end());
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  nb::list by_line;
  for (const auto& [line, count] : lines) by_line.append(nb::make_tuple(line << kLineShift, count));
  d["lines"] = by_line;
  nb::list resolvers;
  for (const auto& r : engine.resolvers())
    resolvers.append(*std::max_element(r->busy.begin(), r->busy.end()));
  d["resolver_busy"] = resolvers;
  nb::list channels;
  for (const Channel& ch : engine.fabric.channels) channels.append(ch.used);
  d["channel_busy"] = channels;
  nb::list latencies;
  engine.latencies().each(
      [&](Time latency, uint64_t count) { latencies.append(nb::make_tuple(latency, count)); });
  d["latencies"] = latencies;
  return d;
}

Time latency(Engine& engine, const std::string& kind, int32_t source, int32_t target) {
  const Size size = kind == "control" ? Size::control : kind == "data" ? Size::data : Size::snoop;
  return engine.fabric.latency(source, target, size);
}

nb::bytes read(Engine& engine, uint64_t address, std::size_t size) {
  std::vector<uint8_t> bytes(size);
  engine.read(address, size, bytes.data());
  return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace

void bind_engine(nb::module_& module) {
  nb::class_<Engine>(module, "Run", "One machine, one program, one run of the native engine.")
      .def(
          "__init__",
          [](Engine* self, nb::handle m, std::vector<uint32_t> protocol, const nb::dict& j,
             nb::handle segments) {
            new (self) Engine(machine(m, std::move(protocol)), job(j, segments));
          },
          nb::arg("machine"), nb::arg("protocol"), nb::arg("job"), nb::arg("segments"))
      .def("step", &Engine::step, nb::arg("events"), nb::call_guard<nb::gil_scoped_release>(),
           "Runs at most that many events; False when the run has ended.")
      .def_prop_ro("end", [](const Engine& e) { return word(e.ending.cause()); })
      .def_prop_ro("exit_code", [](const Engine& e) { return e.ending.code(); })
      .def_prop_ro("reason", [](const Engine& e) { return e.ending.reason(); })
      .def_prop_ro("now", &Engine::now)
      .def_prop_ro("operations", [](const Engine& e) { return e.counters.operations; })
      .def_prop_ro("console", [](const Engine& e) { return e.console.text; })
      .def("read", &read, nb::arg("address"), nb::arg("size"),
           "Memory as the machine would read it, wherever the newest bytes are.")
      .def("latency", &latency, nb::arg("kind"), nb::arg("source"), nb::arg("target"),
           "ps of a message alone on its way between two stops; kind: control, data or snoop.")
      .def("harts", &harts)
      .def("counters", &counters)
      .def("log", &log_columns, "The transaction log by columns; None unless asked for.")
      .def("lines", &line_columns, "The attribution by columns; None unless asked for.");
}

}  // namespace uncore
