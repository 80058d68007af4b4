// Binds class DelayedMachine: harts with a memory that answers later.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <vector>

#include "doubles/delayed_machine.hh"

namespace nb = nanobind;

namespace uncore {
namespace {

using Parameters = std::map<std::string, uint64_t>;

// Reads byte by byte, because a request must not cross a line.
nb::bytes read(DelayedMachine& machine, uint64_t address, uint64_t size) {
  std::string bytes(size, '\0');
  for (uint64_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(machine.read(address + i, 1));
  return nb::bytes(bytes.data(), bytes.size());
}

DelayedMachine* make(const std::string& program, const std::vector<Parameters>& harts,
                     const std::vector<Time>& delays, Time link) {
  if (delays.size() != harts.size()) throw nb::value_error("one delay a hart");
  std::vector<AsyncSpec> specs;
  for (const Parameters& hart : harts)
    specs.push_back(read_async_spec([&](const char* name) {
      const auto parameter = hart.find(name);
      if (parameter == hart.end()) throw nb::key_error(name);
      return parameter->second;
    }));
  return new DelayedMachine(program, specs, delays, link);
}

}  // namespace

void bind_delayed(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<DelayedMachine>(module, "DelayedMachine",
                             "Harts with a memory that answers later, for tests of the harts.")
      .def(nb::new_(&make), "program"_a, "harts"_a, "delays"_a, "link"_a)
      .def("run", &DelayedMachine::run, "limit"_a,
           "Runs until the guest ends; returns what the harts and the guest print.")
      .def("read", &read, "address"_a, "size"_a)
      .def_prop_ro("failures", &DelayedMachine::failures,
                   "Number of store-conditionals that failed.");
}

}  // namespace uncore
