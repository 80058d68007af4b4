// The Python module uncore._doubles: very simple simulators that replace the engine in tests of the
// hart. SCons builds it next to uncore._native; no wheel contains it.

#include <nanobind/nanobind.h>

namespace uncore {
void bind_flat(nanobind::module_& module);
void bind_delayed(nanobind::module_& module);
}  // namespace uncore

NB_MODULE(_doubles, module) {
  uncore::bind_flat(module);
  uncore::bind_delayed(module);
}
