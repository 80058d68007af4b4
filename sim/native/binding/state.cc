// Binds class Arena: runs that can be saved and resumed.
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

// Starts a run in an arena. The specs are converted outside of the arena and then copied into it,
// because nothing in an arena may refer to Python objects.
Engine* start(Arena& arena, nb::handle machine, nb::handle job) {
  const auto m = from_python<MachineSpec>(machine);
  const auto j = from_python<JobSpec>(job);
  const Arena::Scope scope(&arena.root());
  auto* const engine = new Engine(MachineSpec(m), JobSpec(j));
  arena.root() = engine;
  return engine;
}

bool put(Arena& arena, nb::bytes packed) {
  const auto* const begin = static_cast<const uint64_t*>(packed.data());
  return arena.put({begin, packed.size() / sizeof(uint64_t)});
}

// Runs at most `events` events, until time `then` or, if `begin` is set, until a hart begins its
// measured part. Returns false if that point has been reached or the run has ended.
bool step_towards(Engine& engine, Time then, bool begin, uint64_t events) {
  const Arena::Scope scope(&engine);
  for (; events > 0; --events) {
    if (engine.queue.now() >= then || (begin && engine.services.begun())) return false;
    if (!engine.step(1, kNever)) return false;
  }
  return true;
}

void change(Engine& engine, uint64_t address, nb::bytes value) {
  const Arena::Scope scope(&engine);
  engine.functional.write(address, value.size(), static_cast<const uint8_t*>(value.data()),
                          engine.queue.now());
}

}  // namespace

void bind_state(nb::module_& module) {
  Code::zeroed = Arena::zeroed, Code::release = Arena::release;
  nb::class_<Arena>(module, "Arena", "The memory of one run, which can be saved and restored.")
      .def_ro_static("LEAST", &Arena::kMinContentBytes, "The fewest bytes of an image.")
      .def_ro_static("MOST", &Arena::kMaxContentBytes, "The most bytes of an image.")
      .def_static("make", &Arena::make, "Makes an arena; None if no address range is free.")
      .def_static(
          "for_restore",
          [](uint32_t number, uint64_t module) {
            return Arena::for_restore({.number = number, .module = module});
          },
          nb::arg("number"), nb::arg("module"),
          "Makes the empty arena of a saved image; None if its address range is in use.")
      .def("put", &put, nb::arg("packed"),
           "Restores the next piece of an image; False if the image is too large.")
      .def("start", &start, nb::arg("machine"), nb::arg("job"), nb::rv_policy::reference_internal)
      .def(
          "run",
          [](Arena& a) {
            a.grow_in_large_pages();
            return static_cast<Engine*>(a.root());
          },
          nb::rv_policy::reference_internal, "Returns the run that was started in this arena.")
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
          nb::arg("part"), "Returns one part of the image; an empty one past the end.");
  module.def(
      "step_towards", &step_towards, nb::arg("run"), nb::arg("then"), nb::arg("begin"),
      nb::arg("events"), nb::call_guard<nb::gil_scoped_release>(),
      "Runs at most `events` events, until time `then` or, if `begin`, until a hart begins its "
      "measured part; False at that point.");
  module.def("change", &change, nb::arg("run"), nb::arg("address"), nb::arg("value"),
             "Writes bytes to an address, in memory and in every cached copy.");
}

}  // namespace uncore
