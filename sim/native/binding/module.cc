// The Python module uncore._native: one bind_* function per part, each in its own file here.
//
// Interface: importing the module registers the classes of every part. A new part adds two lines
// below.
// Invariant: this folder is the only one that knows Python.

#include <nanobind/nanobind.h>

namespace uncore {
void bind_check(nanobind::module_& module);
void bind_engine(nanobind::module_& module);
void bind_port(nanobind::module_& module);
void bind_state(nanobind::module_& module);
}  // namespace uncore

NB_MODULE(_native, module) {
  module.doc() = "uncore's native engine";
  uncore::bind_check(module);
  uncore::bind_engine(module);
  uncore::bind_port(module);
  uncore::bind_state(module);
}
