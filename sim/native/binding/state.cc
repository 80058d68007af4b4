// Runs that can be saved and resumed, for Python: class Arena.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cstring>
#include <optional>
#include <utility>

#include "binding/read_spec.hh"
#include "engine/engine.hh"
#include "hart/code.hh"
#include "storage/arena.hh"

namespace nb = nanobind;

namespace uncore {
namespace {

// Starts a run in an arena. The specs are converted outside and then copied into the arena, because
// nothing in it may refer to Python objects.
Engine* start(Arena& arena, nb::handle machine, nb::handle job) {
  const auto m = from_python<MachineSpec>(machine);
  const auto j = from_python<JobSpec>(job);
  const Arena::In in(&arena.root());
  auto* const engine = new Engine(MachineSpec(m), JobSpec(j));
  arena.root() = engine;
  return engine;
}

bool put(Arena& arena, nb::bytes packed) {
  const auto* const begin = static_cast<const uint64_t*>(packed.data());
  return arena.put({begin, packed.size() / sizeof(uint64_t)});
}

// Runs at most `events` events, until time `then`, or, if `begin`, until a hart begins its measured
// part. Returns false if that point is reached or the run has ended.
bool step_towards(Engine& engine, Time then, bool begin, uint64_t events) {
  const Arena::In in(&engine);
  for (; events > 0; --events) {
    if (engine.queue.now() >= then || (begin && engine.services.begun())) return false;
    if (!engine.step(1, kNever)) return false;
  }
  return true;
}

void change(Engine& engine, uint64_t address, nb::bytes value) {
  const Arena::In in(&engine);
  engine.functional.write(address, value.size(), static_cast<const uint8_t*>(value.data()),
                          engine.queue.now());
}

}  // namespace

void bind_state(nb::module_& module) {
  Code::zeroed = Arena::zeroed, Code::release = Arena::release;
  nb::class_<Arena>(module, "Arena", "The memory of one run that can be saved as it stands.")
      .def_ro_static("LEAST", &Arena::kMinContentBytes, "Bytes that a content has at least.")
      .def_ro_static("MOST", &Arena::kMaxContentBytes, "Bytes that a content has at most.")
      .def_static("make", &Arena::make, "None where this build or host has no room for one.")
      .def_static(
          "again",
          [](uint32_t number, uint64_t module) {
            return Arena::again({.number = number, .module = module});
          },
          nb::arg("number"), nb::arg("module"),
          "Room for one that was saved; None where this process has another in its place.")
      .def("put", &put, nb::arg("packed"), "What comes next of its content. False: too much.")
      .def("start", &start, nb::arg("machine"), nb::arg("job"), nb::rv_policy::reference_internal)
      .def(
          "run",
          [](Arena& a) {
            a.grow_in_large_pages();
            return static_cast<Engine*>(a.root());
          },
          nb::rv_policy::reference_internal, "The run that was started in it.")
      .def_prop_ro("place",
                   [](const Arena& a) {
                     const Arena::Place place = a.place();
                     return std::pair(place.number, place.module);
                   })
      .def(
          "content",
          [](const Arena& a, std::size_t part) {
            const auto packed = a.content(part);
            return nb::bytes(packed.data(), packed.size() * sizeof(uint64_t));
          },
          nb::arg("part"), "A part of it; behind the last one nothing.");
  module.def("step_towards", &step_towards, nb::arg("run"), nb::arg("then"), nb::arg("begin"),
             nb::arg("events"), nb::call_guard<nb::gil_scoped_release>(),
             "At most that many events towards a time or the begin marker; False: it is there.");
  module.def("change", &change, nb::arg("run"), nb::arg("address"), nb::arg("value"),
             "Other bytes at an address, wherever copies of them are.");
}

}  // namespace uncore
